//! The few JSON values that a timeline and a file of statistics consist of.

use std::fmt::Write;

/// An object in the making: `{"name":value,...`.
pub struct Object(String);

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// An object without values.
    pub fn new() -> Self {
        Self("{".to_owned())
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_text(&mut self.0, name);
        self.0.push(':');
    }

    /// With a text.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_text(&mut self.0, value);
        self
    }

    /// With a whole number.
    pub fn number(mut self, name: &str, value: impl Into<i128>) -> Self {
        self.name(name);
        write!(self.0, "{}", value.into()).expect("writing to a string");
        self
    }

    /// Nanoseconds as microseconds.
    pub fn microseconds(mut self, name: &str, value: i64) -> Self {
        self.name(name);
        let (sign, value) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
        write!(self.0, "{sign}{}.{:03}", value / 1000, value % 1000).expect("writing to a string");
        self
    }

    /// With an object.
    pub fn object(mut self, name: &str, value: Self) -> Self {
        self.name(name);
        self.0.push_str(&value.finish());
        self
    }

    /// With a list of objects.
    pub fn objects(mut self, name: &str, values: impl Iterator<Item = Self>) -> Self {
        self.name(name);
        let values: Vec<String> = values.map(Self::finish).collect();
        write!(self.0, "[{}]", values.join(",\n")).expect("writing to a string");
        self
    }

    /// As a text.
    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn push_text(json: &mut String, text: &str) {
    json.push('"');
    for one in text.chars() {
        match one {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            one if one < ' ' => write!(json, "\\u{:04x}", one as u32).expect("writing to a string"),
            one => json.push(one),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_nest_and_texts_are_quoted() {
        let inner = Object::new().text("at", "C:\\\"a\"\n\u{1}é").number("n", 3);
        let object = Object::new()
            .text("name", "x")
            .microseconds("ts", -1_234_567)
            .microseconds("dur", 5)
            .object("args", inner)
            .object("none", Object::new())
            .objects(
                "all",
                [Object::new(), Object::new().number("n", 1)].into_iter(),
            );
        assert_eq!(
            object.finish(),
            "{\"name\":\"x\",\"ts\":-1234.567,\"dur\":0.005,\
             \"args\":{\"at\":\"C:\\\\\\\"a\\\"\\n\\u0001é\",\"n\":3},\"none\":{},\"all\":[{},\n{\"n\":1}]}"
        );
    }
}
