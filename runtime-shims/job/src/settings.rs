//! Variables by which the user says what he wants. An error names the variable and says what is valid.

use crate::Environment;

/// `0` or `1`; what is not said is `default`.
pub fn switch(environment: impl Environment, name: &str, default: bool) -> Result<bool, String> {
    match environment(name).as_deref() {
        None | Some("") => Ok(default),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(format!("{name}={other}: valid values are 0 and 1")),
    }
}

/// A whole number from 1 on, if one is said.
pub fn number(environment: impl Environment, name: &str) -> Result<Option<u32>, String> {
    let Some(text) = environment(name) else {
        return Ok(None);
    };
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(format!(
            "{name}={text}: valid values are whole numbers from 1"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_valid_is_named() {
        let set = |value: &'static str| move |_: &str| Some(value.to_string());
        assert_eq!(switch(set("1"), "A", false), Ok(true));
        assert_eq!(switch(set(""), "A", true), Ok(true));
        assert_eq!(switch(|_: &str| None, "A", true), Ok(true));
        let wrong = "A=yes: valid values are 0 and 1".to_string();
        assert_eq!(switch(set("yes"), "A", true), Err(wrong));
        assert_eq!(number(set("7"), "N"), Ok(Some(7)));
        assert_eq!(number(|_: &str| None, "N"), Ok(None));
        let wrong = "N=0: valid values are whole numbers from 1".to_string();
        assert_eq!(number(set("0"), "N"), Err(wrong));
    }
}
