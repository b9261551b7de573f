//! Results on standard output; when that is closed the program ends, quietly.

use std::fmt::Arguments;
use std::io::Write;

/// Like `print!`, but a closed pipe is no error.
macro_rules! say {
    ($($arg:tt)*) => {
        $crate::say::write(format_args!($($arg)*))
    };
}
/// Like `println!`, but a closed pipe is no error.
macro_rules! say_line {
    () => { $crate::say::write(format_args!("\n")) };
    ($($arg:tt)*) => {{
        $crate::say::write(format_args!($($arg)*));
        $crate::say::write(format_args!("\n"));
    }};
}
pub(crate) use {say, say_line};

/// What the macros do.
pub(crate) fn write(text: Arguments) {
    if std::io::stdout().write_fmt(text).is_err() {
        std::process::exit(0);
    }
}
