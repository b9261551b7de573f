//! How choices are spelled.

/// Text forms: one table per enum, so that flags, files and messages spell every option alike.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($name:ident, $title:literal, $($variant:ident = $text:literal),+) => {
        impl $name {
            /// All spellings, in order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
            #[doc(hidden)]
            pub const WANTED: &'static str = $crate::base::names::names!(@list $($text),+);
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),+ })
            }
        }
        impl std::str::FromStr for $name {
            type Err = $crate::base::error::Error;
            fn from_str(text: &str) -> $crate::base::error::Result<Self> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::base::error::Error::Param {
                        name: $title,
                        want: Self::WANTED,
                        got: text.into(),
                    }),
                }
            }
        }
    };
    (@list $first:literal $(, $rest:literal)*) => { concat!("one of ", $first $(, ", ", $rest)*) };
}
pub use crate::names;
