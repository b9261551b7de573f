//! First contact: dates, orders, sizes by complexity, rows unlike those in training, and the table of columns.

use crate::Sandbox;
use std::fmt::Write;

/// Orders of a shop: sales are high at weekends, in December and for large sizes.
fn orders() -> String {
    let mut text = String::from("when,size,note,sales\n");
    let sizes = ["small", "medium", "large", "huge"];
    for i in 0..400u32 {
        let (month, day, size) = (1 + i * 7 % 12, 1 + i * 11 % 28, i * 13 % 4);
        // The days of 2023 follow from that of its first, a Sunday.
        let before: u32 = (1..month).map(|m| [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m as usize - 1]).sum();
        let weekend = matches!((before + day - 1) % 7, 0 | 6);
        let sales = 10 + 20 * u32::from(weekend) + 15 * u32::from(month == 12) + 8 * u32::from(size >= 2) + i % 3;
        let _ = writeln!(text, "2023-{month:02}-{day:02} {:02}:15,{},n{},{sales}", i % 24, sizes[size as usize], i % 5);
    }
    text
}

fn shop() -> Sandbox {
    let sandbox = Sandbox::with(&[("o.csv", &orders())]);
    sandbox.ok(&["fit", "o.csv", "--target", "sales", "--ordered", "size=small<medium<large<huge", "-o", "m.json"]);
    sandbox
}

#[test]
fn dates_are_used_by_their_parts() {
    let sandbox = shop();
    let model = sandbox.read("m.json");
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("when.weekday >= Sat") || shown.contains("when.weekday <= Fri"), "{shown}");
    assert!(shown.contains("when.month >= 12") || shown.contains("when.month <= 11"), "{shown}");
    // What is read in one piece and what is streamed give the same model and the same predictions.
    let none = ["--ordered", "size=small<medium<large<huge", "--cv", "none", "--reg-lambda", "8", "-o"];
    sandbox.ok(&[&["fit", "o.csv", "--target", "sales"][..], &none, &["a.json"]].concat());
    let folds = ["--ordered", "size=small<medium<large<huge", "--cv", "2", "--reg-lambda", "8", "-o"];
    sandbox.ok(&[&["fit", "o.csv", "--target", "sales"][..], &folds, &["b.json"]].concat());
    let rules = |name: &str| sandbox.json(&["show", name, "--complexity", "12"])["rules"].clone();
    assert_eq!(rules("a.json"), rules("b.json"));
    assert!(model.contains("\"part\": \"weekday\"") && model.contains("\"kind\": \"ordered\""), "{model}");
    // Fresh rows: the same instants in another of the forms that can be told apart.
    let other = "when,size,note\n2023-12-30T03:00:00Z,large,n1\n2023-12-27,small,n1\n,huge,n1\n";
    sandbox.write("p.csv", other);
    let predicted = sandbox.ok(&["predict", "m.json", "p.csv"]).stdout;
    let predicted: Vec<f64> = predicted.lines().skip(1).map(|l| l.parse().unwrap()).collect();
    assert!(predicted[0] > predicted[1] + 12.0 && predicted[2] < predicted[0], "{predicted:?}");
    let explained = sandbox.ok(&["explain", "m.json", "p.csv", "--row", "1"]).stdout;
    assert!(explained.contains("when.weekday: Sat") && explained.contains("when.month: 12"), "{explained}");
    // Without the dates the model says what it lacks.
    sandbox.write("q.csv", "size,note\nlarge,n1\n");
    let run = sandbox.run(&["predict", "m.json", "q.csv"]);
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
    assert!(run.stderr.contains("\"when\""), "{}", run.stderr);
}

#[test]
fn dates_can_be_left_out_or_ignored() {
    let sandbox = Sandbox::with(&[("o.csv", &orders())]);
    for flags in [&["--dates", "off"][..], &["--ignore", "when"], &["--categorical", "when"]] {
        let run = sandbox.ok(&[&["fit", "o.csv", "--target", "sales", "-o", "m.json"], flags].concat());
        let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
        assert!(!model["columns"].to_string().contains("when.month"), "{flags:?}");
        assert_eq!(run.stderr.contains("\"when\" left out"), flags[0] == "--dates", "{flags:?}: {}", run.stderr);
    }
    let run = sandbox.ok(&["fit", "o.csv", "--target", "sales", "--ignore", "when.month,when.hour", "-o", "m.json"]);
    let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    let model = model["columns"].to_string();
    assert!(model.contains("when.weekday") && !model.contains("when.month"), "{}", run.stderr);
}

#[test]
fn days_and_months_that_could_be_exchanged_are_noted() {
    let rows = |form: fn(u32, u32) -> String| {
        (0..60).fold(String::from("d,y\n"), |t, i| format!("{t}{},{}\n", form(1 + i % 12, 1 + i % 9), 3 * (i % 12)))
    };
    let notes = |text: &str| {
        let sandbox = Sandbox::with(&[("t.csv", text)]);
        let streamed = sandbox.ok(&["fit", "t.csv", "--target", "y", "--cv", "none", "-o", "m.json"]).stderr;
        assert_eq!(sandbox.ok(&["fit", "t.csv", "--target", "y", "--cv", "2"]).stderr, streamed);
        (streamed, sandbox.ok(&["show", "m.json"]).stdout)
    };
    let (told, rules) = notes(&rows(|month, day| format!("{month}/{day}/2024")));
    assert!(told.contains("could be exchanged; they are read with the month first"), "{told}");
    assert!(rules.contains("d.month"), "{rules}");
    assert!(notes(&rows(|month, day| format!("{day}.{month}.2024"))).0.contains("with the day first"));
    let (told, rules) = notes(&rows(|month, day| format!("{}/{month}/2024", day + 15)));
    assert!(told.is_empty() && rules.contains("d.month"), "{told}{rules}");
}

#[test]
fn levels_keep_the_order_that_they_are_given() {
    let sandbox = shop();
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("size >= large") || shown.contains("size <= medium"), "{shown}");
    // A level that is not listed names its row, whichever way the table is read.
    for way in [&["--cv", "none"][..], &["--cv", "2"], &["--memory-limit", "0"]] {
        let fit = ["fit", "o.csv", "--target", "sales", "--ordered", "size=small<medium<large"];
        let run = sandbox.run(&[&fit[..], way].concat());
        assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{}", run.stderr);
        assert!(run.stderr.contains("column \"size\", row 4: \"huge\" is not among"), "{way:?}: {}", run.stderr);
    }
    for (flag, part) in [
        ("size", "must be COL=LOW"),
        ("size=small", "at least two levels"),
        ("size=small<medium<small", "twice"),
        ("sales=1<2", "cannot be ordered"),
        ("colour=a<b", "no such column"),
    ] {
        let run = sandbox.run(&["fit", "o.csv", "--target", "sales", "--ordered", flag]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{flag}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{flag}: {}", run.stderr);
    }
    // Levels may be numbers, and need not all occur.
    let numbers = (0..80).fold(String::from("r,y\n"), |t, i| format!("{t}{},{}\n", i % 4, 5 * u32::from(i % 4 > 1)));
    sandbox.write("n.csv", &numbers);
    for way in [&["--cv", "none"][..], &["--cv", "2"]] {
        let fit = ["fit", "n.csv", "--target", "y", "--task", "regression", "--ordered", "r=3<2<9<1<0", "-o", "n.json"];
        sandbox.ok(&[&fit[..], way].concat());
        let shown = sandbox.ok(&["show", "n.json"]).stdout;
        assert!(shown.contains("r <= 2") || shown.contains("r >= 1"), "{shown}");
        let predicted = sandbox.ok(&["predict", "n.json", "n.csv"]).stdout;
        let predicted: Vec<f64> = predicted.lines().skip(1).map(|l| l.parse().unwrap()).collect();
        assert!(predicted[2] > 4.0 && predicted[3] > 4.0 && predicted[0] < 1.0 && predicted[1] < 1.0, "{predicted:?}");
    }
}

#[test]
fn sizes_can_be_named_by_complexity() {
    let sandbox = shop();
    let path = sandbox.json(&["evaluate", "m.json", "o.csv"])["path"].as_array().unwrap().clone();
    let complexities: Vec<u64> = path.iter().map(|e| e["complexity"].as_u64().unwrap()).collect();
    for limit in 0..=complexities[complexities.len() - 1] + 3 {
        let expected = *complexities.iter().rfind(|c| **c <= limit).unwrap();
        let shown = sandbox.json(&["show", "m.json", "--complexity", &limit.to_string()]);
        assert_eq!(shown["shown"]["complexity"].as_u64(), Some(expected), "{limit}");
        let counted: usize =
            shown["rules"].as_array().unwrap().iter().map(|r| 1 + r["conditions"].as_array().unwrap().len()).sum();
        assert_eq!(counted as u64, expected);
    }
    let predicted = |flags: &[&str]| sandbox.ok(&[&["predict", "m.json", "o.csv"], flags].concat()).stdout;
    assert_ne!(predicted(&["--complexity", "2"]), predicted(&[]));
    let both = sandbox.run(&["show", "m.json", "--complexity", "2", "--rules", "1"]);
    assert_eq!((both.code, both.stdout.as_str()), (2, ""));
}

#[test]
fn the_choice_says_how_it_was_made() {
    let sandbox = shop();
    let fit = |flags: &[&str]| sandbox.ok(&[&["fit", "o.csv", "--target", "sales"], flags].concat());
    let run = fit(&[]);
    assert!(run.stdout.contains("Chosen by 5 folds") && run.stderr.is_empty(), "{}{}", run.stdout, run.stderr);
    let run = fit(&["--cv", "none"]);
    assert!(!run.stdout.contains("folds") && run.stderr.is_empty(), "{}{}", run.stdout, run.stderr);
    for (flags, why) in [
        (&["--search", "exact", "--max-rules", "2"][..], "this search takes long enough once"),
        (&["--time-limit", "900"], "the time is limited"),
    ] {
        let run = fit(flags);
        assert!(run.stderr.contains("not cross-validated") && run.stderr.contains(why), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
    }
    // A small table is held in memory for folds of whole groups, whatever the limit is.
    let run = fit(&["--memory-limit", "0", "--cv-groups", "note"]);
    assert!(run.stdout.contains("Chosen by 5 folds by note") && run.stderr.is_empty(), "{}", run.stderr);
    sandbox.write("s.csv", "x,y\n1,1.5\n2,2.5\n3,7\n");
    let run = sandbox.ok(&["fit", "s.csv", "--target", "y"]);
    assert!(run.stderr.contains("3 rows are too few for 5 folds"), "{}", run.stderr);
    // Where one threshold is the class, the answer is that one rule.
    let weeks = (0..300).fold(String::from("weeks,age,early\n"), |t, i| {
        let weeks = 24 + i * 7 % 18;
        format!("{t}{weeks},{},{}\n", 20 + i % 25, if weeks <= 36 { "yes" } else { "no" })
    });
    sandbox.write("w.csv", &weeks);
    let chosen = sandbox.json(&["fit", "w.csv", "--target", "early"])["chosen"].clone();
    assert_eq!((chosen["rules"].as_u64(), chosen["complexity"].as_u64()), (Some(1), Some(2)), "{chosen}");
}

#[test]
fn strange_rows_are_noted_and_refused_if_asked() {
    let sandbox = shop();
    let rows = (0..50).fold(String::from("when,size,note\n"), |t, i| {
        format!("{t}2023-05-{:02} 10:00,{},n1\n", 1 + i % 28, if i < 4 { "tiny" } else { "large" })
    });
    sandbox.write("p.csv", &rows);
    let run = sandbox.ok(&["predict", "m.json", "p.csv"]);
    assert!(run.stderr.contains("size has levels that were not in training in 4 (\"tiny\")"), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.stdout.lines().count()), (1, 51));
    assert!(sandbox.ok(&["predict", "m.json", "p.csv", "-q"]).stderr.is_empty());
    for args in
        [&["predict", "m.json", "p.csv", "--strict", "-o", "out.csv"][..], &["explain", "m.json", "p.csv", "--strict"]]
    {
        let strict = sandbox.run(args);
        assert_eq!(
            (strict.code, strict.stdout.as_str(), strict.stderr.lines().count()),
            (2, "", 1),
            "{}",
            strict.stderr
        );
    }
    assert!(!sandbox.path("out.csv").exists());
    // What is like the training rows is no matter.
    assert_eq!(sandbox.ok(&["predict", "m.json", "o.csv", "--strict"]).stderr, "");
}

#[test]
fn a_fit_begins_with_its_columns() {
    let rows = (0..100).fold(String::from("id,price,kind,flag,when,y\n"), |t, i| {
        let price = if i == 50 { "see note".into() } else { format!("\"${},{:03}.50\"", 1 + i % 9, i) };
        format!("{t}u{i},{price},{},{},2024-{:02}-03,{}\n", ["a", "b", ""][i % 3], i % 2 == 0, 1 + i % 12, i % 12)
    });
    let sandbox = Sandbox::with(&[("t.csv", &rows)]);
    let run = sandbox.ok(&["fit", "t.csv", "--target", "y"]);
    let text = &run.stdout;
    let line = |name: &str| {
        let found = text.lines().find(|l| l.trim_start().starts_with(&format!("{name} ")));
        found.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    };
    assert!(line("price").contains("number") && line("price").contains("one word"), "{text}");
    assert!(
        line("kind").contains("category") && line("kind").contains("33") && line("kind").contains("a, b"),
        "{text}"
    );
    assert!(line("flag").contains("true/false"), "{text}");
    assert!(line("when.month").contains("1 to 12") && line("when.month").contains("month of when"), "{text}");
    assert!(line("when.weekday").contains("ordered"), "{text}");
    assert!(line("id").contains("left out") && line("id").contains("100 of 100 values differ"), "{text}");
    assert!(text.find("missing").unwrap() < text.find("train RMSE").unwrap(), "{text}");
    let table = sandbox.json(&["fit", "t.csv", "--target", "y"])["table"].as_array().unwrap().clone();
    let of = |name: &str| table.iter().find(|l| l["name"] == name).unwrap().clone();
    assert_eq!((of("kind")["missing"].as_u64(), of("kind")["levels"].as_u64()), (Some(33), Some(2)));
    assert_eq!(of("when.month")["range"], serde_json::json!([1.0, 12.0]));
    assert!(of("id")["kind"].is_null() && of("id")["note"].as_str().unwrap().starts_with("left out"));
    // The order of columns and the kind do not depend on how the table is read.
    let streamed = sandbox.json(&["fit", "t.csv", "--target", "y", "--cv", "none"])["table"].clone();
    assert_eq!(streamed.as_array().unwrap(), &table);
}

#[test]
fn a_column_of_0_and_1_is_a_flag() {
    let rows = (0..200).fold(String::from("flag,half,y\n"), |t, i| {
        format!("{t}{},{},{}\n", i % 2, f64::from(i % 3) / 2.0, 4 * (i % 2) + i % 3)
    });
    let sandbox = Sandbox::with(&[("t.csv", &rows)]);
    for way in [&["--cv", "none"][..], &["--cv", "2"]] {
        let text = sandbox.ok(&[&["fit", "t.csv", "--target", "y", "-o", "m.json"], way].concat()).stdout;
        assert!(text.contains("flag = 1") || text.contains("flag = 0"), "{text}");
        assert!(!text.contains("flag >=") && !text.contains("half ="), "{text}");
        // The file has it too, and so do programs that read it.
        let shown = sandbox.ok(&["show", "m.json"]).stdout;
        assert!(shown.contains("if flag = "), "{shown}");
    }
}

#[test]
fn several_classes_share_the_limit() {
    let rows = (0..300).fold(String::from("a,b,y\n"), |t, i| {
        format!("{t}{},{},c{}\n", i % 50, i * 7 % 31, (i % 50 / 13 + i * 7 % 31 / 12) % 4)
    });
    let sandbox = Sandbox::with(&[("t.csv", &rows)]);
    for limit in ["0", "7", "30"] {
        for multiclass in ["shared", "one-vs-rest"] {
            let flags = ["--max-complexity", limit, "--cv", "none", "--multiclass", multiclass];
            let document = sandbox.json(&[&["fit", "t.csv", "--target", "y"][..], &flags].concat());
            let most: u64 = limit.parse().unwrap();
            assert!(document["chosen"]["complexity"].as_u64().unwrap() <= most, "{}", document["chosen"]);
            assert!(document["path"].as_array().unwrap().iter().all(|s| s["complexity"].as_u64().unwrap() <= most));
        }
    }
}

#[test]
fn columns_that_may_name_rows_are_noted() {
    let rows = (0..400u32).fold(String::from("row,shuffled,place,x,y\n"), |t, i| {
        format!("{t}{},{},p{},{},{}\n", i + 1, i * 7 % 400, i % 80, i % 9, i % 9 + u32::from(i % 80 == 3))
    });
    let sandbox = Sandbox::with(&[("t.csv", &rows)]);
    for way in [&["--cv", "none"][..], &["--cv", "2"]] {
        let run = sandbox.ok(&[&["fit", "t.csv", "--target", "y"], way].concat());
        for part in [
            "column \"row\" seems to count the rows; leave it out with --ignore row if",
            "column \"shuffled\" seems to count the rows",
            "column \"place\" has 80 levels",
        ] {
            assert!(run.stderr.contains(part), "{way:?}: {}", run.stderr);
        }
        assert!(!run.stderr.contains("\"x\"") && run.stdout.contains("counts the rows"), "{}", run.stderr);
    }
    let quiet = ["fit", "t.csv", "--target", "y", "--ignore", "row,shuffled,place"];
    assert_eq!(sandbox.ok(&quiet).stderr, "");
    // Numbers with a gap do not count the rows, but number them. With one number twice they do neither.
    let about_row = |rows: &str| {
        sandbox.write("t.csv", rows);
        let stderr = sandbox.ok(&["fit", "t.csv", "--target", "y"]).stderr;
        stderr.lines().filter(|line| line.contains("\"row\"")).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let gap = about_row(&rows.replace("\n2,", "\n900,"));
    assert!(gap.contains("column \"row\" seems to number the rows: ") && gap.contains("--ignore row if"), "{gap}");
    assert_eq!(about_row(&rows.replace("\n2,", "\n3,")), "");
}
