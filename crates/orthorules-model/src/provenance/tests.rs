//! Words that shells read back, and files that are refused.

use super::*;
use serde_json::json;

/// What a shell makes of a command: the words, or nothing where it would do more than run one program.
fn words(command: &str) -> Vec<String> {
    let printed = std::process::Command::new("bash")
        .args(["-c", &format!("printf '%s\\0' {command}")])
        .output()
        .expect("a shell");
    assert!(printed.status.success(), "{command}");
    let text = String::from_utf8(printed.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

const HOSTILE: [&str; 14] = [
    "plain",
    "",
    "two words",
    "it's",
    "$(touch x)",
    "`id`",
    "a;b|c&d",
    "--flag",
    "a\nb\tc",
    "\u{1b}[31m\\",
    "\"quoted\"",
    "*?~!#",
    "Größe 🦀",
    "'\\''",
];

#[test]
fn shells_read_words_back() {
    let all: Vec<String> = HOSTILE.iter().map(|text| word(text)).collect();
    assert_eq!(words(&all.join(" ")), HOSTILE);
    for text in HOSTILE {
        let command = format!("orthorules fit {}", word(text));
        assert!(command::is_one_fit(&command) && !command.contains(char::is_control), "{command}");
    }
}

#[test]
fn options_become_flags() {
    let options = json!({
        "terms": "linear", "reg_lambda": 8.0, "max_rules": 5, "drop_missing_target": true,
        "ignore": ["a,b", "c"], "require": ["age >= 65", "x = 1"], "interactions": [["a,b", "c"], ["d"]],
        "cuts": {"x=y": [1.0, 2.5]}, "monotone": {"p": 1, "-q": -1}, "ordered": {"size": ["S", "M"]}, "positive": "-1",
    });
    let options: BTreeMap<String, Value> = serde_json::from_value(options).unwrap();
    let provenance = Provenance::new("it's", options, &json!([]), 3);
    let found = words(&provenance.command);
    let wanted = [
        "orthorules",
        "fit",
        "TABLE",
        "--target",
        "it's",
        "--cuts",
        "\"x=y\"=1,2.5",
        "--drop-missing-target",
        "--ignore",
        "\"a,b\",c",
        "--interactions",
        "\"a,b\",c",
        "--interactions",
        "d",
        "--max-rules",
        "5",
        "--monotone=-q=-1,p=+1",
        "--ordered",
        "size=S<M",
        "--positive=-1",
        "--reg-lambda",
        "8",
        "--require",
        "age >= 65",
        "--require",
        "x = 1",
        "--terms",
        "linear",
        "-o",
        "MODEL",
    ];
    assert_eq!(found, wanted);
}

const SMALL: &str = r#"{"format":"orthorules-model","version":3,"task":"regression","loss":"squared","target":"y",
    "rows":9,"columns":[],"rules":[],"path":[{"rules":0,"intercept":1,"weights":[],"train_risk":1}],"chosen":0,
    "provenance":PROVENANCE}"#;

fn file(change: impl Fn(&mut Value)) -> String {
    let mut provenance = serde_json::to_value(Provenance::new("y", BTreeMap::new(), &json!([]), 9)).unwrap();
    change(&mut provenance);
    SMALL.replace("PROVENANCE", &provenance.to_string())
}

#[test]
fn provenance_is_kept_and_needs_version_3() {
    let model = Model::from_json(&file(|_| {})).unwrap();
    assert_eq!(model.provenance.as_ref().unwrap().command, "orthorules fit TABLE --target y -o MODEL");
    assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    let older = file(|_| {}).replace("\"version\":3", "\"version\":2");
    let message = Model::from_json(&older).unwrap_err().to_string();
    assert!(message.contains("version 2, but provenance needs version 3"), "{message}");
}

#[test]
fn hostile_provenance_is_refused() {
    type Spoiled = (&'static str, fn(&mut Value));
    let cases: [Spoiled; 12] = [
        ("command", |p| p["command"] = json!("orthorules fit TABLE; rm -rf ~")),
        ("command", |p| p["command"] = json!("orthorules fit $(id)")),
        ("command", |p| p["command"] = json!("orthorules fit 'TABLE")),
        ("command", |p| p["command"] = json!("curl x | sh")),
        ("command", |p| p["command"] = json!("orthorules fit TABLE\nid")),
        ("command", |p| p["command"] = json!("orthorules fit \u{1b}[2J")),
        ("fingerprint", |p| p["table"]["fingerprint"] = json!("<script>")),
        ("another number of rows", |p| p["table"]["rows"] = json!(8)),
        ("version", |p| p["version"] = json!("1\u{7}")),
        ("options", |p| p["options"] = json!({"Max Rules": 1})),
        ("\"x\" is no number", |p| p["options"] = json!({"x": [[[["deep"]]]]})),
        ("unknown field", |p| p["more"] = json!(1)),
    ];
    for (told, change) in cases {
        let message = Model::from_json(&file(change)).unwrap_err().to_string();
        assert!(message.contains(told) && !message.contains('\n'), "{told}: {message}");
    }
}
