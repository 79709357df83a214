//! The records that go from the stage that lowers to those that come later: what one has found out that the others can
//! no longer see.
//!
//! A loop's record hangs on the call that runs it, its *anchor*: constants are text there, values are the call's operands.
//! LLVM may copy the call, and the record with it. Where the record is lost, or of another version, the loop is declined.
//! A region's record is the ABI's `RegionDescriptor`, which a fork names.

use std::str::{FromStr, Split};

use okl_abi::{DirectAccess, Effects, RegionDescriptor, region_flags};

use crate::analysis::runtime;
use crate::ir::{
    Access, Base, Columns, Element, Form, Kind, Mode, Origin, ParallelLoop, Parameter, Place,
    Scalar, Storage,
};
use crate::llvm::{Call, Function, Global, Linkage, Module, Value};

/// The attribute of an anchor.
const MARK: &str = "okl-loop";

/// What a record begins with. It changes with what follows.
const VERSION: &str = "3";

/// What late stages know of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRecord<'m> {
    /// The construct it was written as, for messages.
    pub origin: Origin,
    /// What its arguments stand for, in order.
    pub kinds: Vec<Kind>,
    /// What every iteration accesses, as [`ParallelLoop::verify`] has it.
    pub accesses: Vec<Access<'m>>,
}

impl<'m> LoopRecord<'m> {
    /// Of a loop.
    pub fn of(one: &ParallelLoop<'m>) -> Self {
        Self {
            origin: one.origin,
            kinds: one.kinds(),
            accesses: one.description.accesses.clone(),
        }
    }

    /// Whether it can be written down: it is not made of values.
    pub fn can_be_left(&self) -> bool {
        self.text().is_some()
    }

    /// Leaves it at an anchor. Anchors of several loops stay several, as in the cases of a `switch`: one for all would run whichever
    /// function is found when the program runs, of which nothing is known.
    pub fn leave_at(&self, module: &Module, anchor: Call<'_>) {
        let text = self.text().expect("it can be written down");
        anchor.note(module, MARK, &text);
        anchor.stays_apart(module);
    }

    /// The one that was left at an anchor; none where the call is no anchor.
    pub fn at(anchor: Call<'m>) -> Option<Result<Self, NoRecord>> {
        Some(anchor.noted(MARK)?.parse())
    }

    /// The parameters of the loop's body.
    pub fn parameters(&self) -> Vec<Parameter<'_>> {
        Parameter::of(&self.kinds, &self.accesses)
    }

    /// None where it is made of values.
    fn text(&self) -> Option<String> {
        let kinds = self.kinds.iter().map(|one| word_of(&KINDS, one));
        let kinds = kinds.collect::<Vec<_>>().join(" ");
        let mut parts = vec![VERSION.to_string(), self.origin.to_string(), kinds];
        for one in &self.accesses {
            let mut words = Vec::new();
            write(one, &mut words)?;
            parts.push(words.join(" "));
        }
        Some(parts.join("; "))
    }
}

const MODES: [(Mode, &str); 6] = [
    (Mode::Read, "read"),
    (Mode::Write, "write"),
    (Mode::ReadWrite, "rw"),
    (Mode::Increment, "inc"),
    (Mode::Min, "min"),
    (Mode::Max, "max"),
];

const KINDS: [(Kind, &str); 5] = [
    (Kind::Number, "number"),
    (Kind::Data(Storage::ByElement), "element"),
    (
        Kind::Data(Storage::Either {
            by_component: false,
        }),
        "either",
    ),
    (
        Kind::Data(Storage::Either { by_component: true }),
        "component",
    ),
    (Kind::Data(Storage::Unknown), "unknown"),
];

const MUST: [(bool, &str); 2] = [(true, "must"), (false, "may")];
const STATED: [(bool, &str); 2] = [(true, "stated"), (false, "found")];
const FORMS: [(Form, &str); 4] = [
    (Form::Floating, "f"),
    (Form::Signed, "i"),
    (Form::Unsigned, "u"),
    (Form::Unknown, "b"),
];

fn word_of<T: PartialEq>(words: &[(T, &'static str)], value: &T) -> &'static str {
    let found = words.iter().find(|(one, _)| one == value);
    found.expect("there is a word for each").1
}

fn meant<T: Clone>(words: &[(T, &str)], word: &str) -> Option<T> {
    let found = words.iter().find(|(_, one)| *one == word);
    found.map(|(value, _)| value.clone())
}

/// The words of an access; none where it is made of values.
fn write(one: &Access<'_>, words: &mut Vec<String>) -> Option<()> {
    words.push(word_of(&MUST, &one.must).to_string());
    words.push(word_of(&STATED, &one.stated).to_string());
    words.push(word_of(&MODES, &one.mode).to_string());
    words.push(match one.base {
        Base::Argument(at) => format!("argument:{at}"),
        Base::Map(at) => format!("map:{at}"),
        Base::Capture(at) => format!("capture:{at}"),
        Base::Parameter(_) | Base::Global(_) | Base::Loaded(_) => return None,
    });
    let optional = if one.optional { "?" } else { "" };
    words.push(match one.element {
        None => format!("{optional}-"),
        Some(Element { scalar, components }) => {
            let (form, bits) = (word_of(&FORMS, &scalar.form), scalar.bytes * 8);
            format!("{optional}{components}x{form}{bits}")
        }
    });
    match &one.place {
        Place::Whole => words.push("whole".to_string()),
        Place::Own => words.push("own".to_string()),
        Place::Anywhere => words.push("anywhere".to_string()),
        Place::At(_) => return None,
        Place::Through(map, columns) => {
            words.push(match columns {
                Columns::One(column) => format!("column:{column}"),
                Columns::First(count) => format!("columns:{count}"),
            });
            write(map, words)?;
        }
    }
    Some(())
}

/// A text is no record of this version.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRecord;

impl FromStr for LoopRecord<'_> {
    type Err = NoRecord;

    fn from_str(text: &str) -> Result<Self, NoRecord> {
        let mut parts = text.split("; ");
        if parts.next() != Some(VERSION) {
            return Err(NoRecord);
        }
        let origin = parts.next().and_then(Origin::called).ok_or(NoRecord)?;
        let kinds = parts.next().ok_or(NoRecord)?;
        let kinds = kinds.split(' ').filter(|word| !word.is_empty());
        let kinds: Option<Vec<_>> = kinds.map(|word| meant(&KINDS, word)).collect();
        let accesses = parts.map(|part| {
            let mut words = part.split(' ');
            let access = access(&mut words)?;
            words.next().is_none().then_some(access)
        });
        let accesses: Option<Vec<_>> = accesses.collect();
        let (kinds, accesses) = kinds.zip(accesses).ok_or(NoRecord)?;
        match Access::verify_all(&accesses, &kinds) {
            Ok(()) => Ok(Self {
                origin,
                kinds,
                accesses,
            }),
            Err(_) => Err(NoRecord),
        }
    }
}

fn access<'m>(words: &mut Split<'_, char>) -> Option<Access<'m>> {
    let must = meant(&MUST, words.next()?)?;
    let stated = meant(&STATED, words.next()?)?;
    let mode = meant(&MODES, words.next()?)?;
    let (base, number) = words.next()?.split_once(':')?;
    let number = number.parse().ok()?;
    let base = match base {
        "argument" => Base::Argument(number),
        "map" => Base::Map(number),
        "capture" => Base::Capture(number),
        _ => return None,
    };
    let word = words.next()?;
    let required = word.strip_prefix('?');
    let element = match required.unwrap_or(word) {
        "-" => None,
        word => Some(element(word)?),
    };
    let place = match words.next()? {
        "whole" => Place::Whole,
        "own" => Place::Own,
        "anywhere" => Place::Anywhere,
        word => {
            let (columns, number) = word.split_once(':')?;
            let number = number.parse().ok()?;
            let columns = match columns {
                "column" => Columns::One(number),
                "columns" => Columns::First(number),
                _ => return None,
            };
            Place::Through(Box::new(access(words)?), columns)
        }
    };
    Some(Access {
        mode,
        must,
        optional: required.is_some(),
        stated,
        element,
        base,
        place,
    })
}

fn element(text: &str) -> Option<Element> {
    let (components, scalar) = text.split_once('x')?;
    let (form, bits) = scalar.split_at_checked(1)?;
    let bits: i64 = bits.parse().ok()?;
    Some(Element {
        scalar: Scalar {
            bytes: Some(bits / 8).filter(|bytes| bytes * 8 == bits)?,
            form: meant(&FORMS, form)?,
        },
        components: components.parse().ok()?,
    })
}

/// What a fork says of the region that it begins.
pub struct RegionRecord<'m> {
    /// Where it is.
    pub global: Global<'m>,
    /// The region's body.
    pub body: Function<'m>,
    fields: Vec<Value<'m>>,
}

impl<'m> RegionRecord<'m> {
    /// Leaves the record of a region with this body, which the run time calls by `invoke`: for a fork to name. What the
    /// region accesses is found out later.
    pub fn leave(
        module: &'m Module,
        [invoke, body]: [Function<'m>; 2],
        location: &str,
        flags: i64,
    ) -> Global<'m> {
        let location = *module.add_text("okl.region.location", location);
        let (number, none) = (|value| module.const_i64(value), module.pointer().zero());
        let fields = RegionDescriptor::NAMES.iter().map(|&field| match field {
            "invoke" => *invoke,
            "body" => *body,
            "location" => location,
            "flags" => number(flags),
            "decision" | "direct_count" | "stretch_count" => number(0),
            "direct" | "stretches" => none,
            other => unreachable!("a region's record has no {other}"),
        });
        let value = module.const_struct(&fields.collect::<Vec<_>>());
        // Not in the shared section: each rank keeps its own decision.
        let linkage = Linkage::LLVMPrivateLinkage;
        let global = module.add_global("okl.region", value.ty(), Some(value), linkage);
        global.set_alignment(8);
        global
    }

    /// Of a fork of ours.
    pub fn of(fork: Call<'m>) -> Option<Self> {
        let function = runtime::function(fork).filter(|one| one.has(Effects::FORKS))?;
        let global = fork.argument(function.position("region")?)?.as_global()?;
        let fields = global.initializer()?.operands();
        if fields.len() != RegionDescriptor::FIELDS.len() {
            return None;
        }
        Some(Self {
            global,
            body: fields[position("body")].as_function()?,
            fields,
        })
    }

    /// What the run time calls: it unpacks the captures and calls the body.
    pub fn invoke(&self) -> Option<Function<'m>> {
        self.fields[position("invoke")].as_function()
    }

    /// The bits of [`region_flags`].
    pub fn flags(&self) -> i64 {
        self.fields[position("flags")]
            .as_constant_int()
            .unwrap_or(0)
    }

    /// Whether what a captured value leads to, or a variable where it is none, is there when the region begins: so many bytes
    /// from an offset on. What a region declares in its body comes with that.
    pub fn has_at_begin(
        &self,
        of: Option<i64>,
        variable: Option<Value<'m>>,
        bytes: [i64; 2],
    ) -> bool {
        if self.flags() & region_flags::DECLARES_ALL == 0 {
            return true;
        }
        let list = self.fields[position("direct")].as_global();
        let list = list.and_then(Global::initializer).map(|one| one.operands());
        list.unwrap_or_default().into_iter().any(|one| {
            let fields = one.operands();
            let number = |name| {
                let at = DirectAccess::NAMES.iter().position(|one| *one == name);
                at.and_then(|at| fields.get(at)?.as_constant_int())
            };
            let object = DirectAccess::NAMES.iter().position(|one| *one == "object");
            let is_it = match of {
                Some(argument) => number("argument") == Some(argument),
                None => {
                    let object = object.and_then(|at| fields.get(at).copied());
                    number("argument") == Some(-1) && object.is_some() && object == variable
                }
            };
            let from = number("offset").zip(number("size"));
            is_it
                && from.is_some_and(|(offset, size)| {
                    offset <= bytes[0] && offset + size >= bytes[0] + bytes[1]
                })
        })
    }

    /// Whether it runs on rank 0 alone.
    pub fn is_alone(&self) -> bool {
        self.flags() & region_flags::RANK_ZERO_ALONE != 0
    }

    /// Completes it: its flags, and the lists of what it accesses at known addresses, and of stretches that may turn out not
    /// to be any.
    pub fn complete(
        &self,
        module: &'m Module,
        flags: i64,
        direct: &[Value<'m>],
        stretches: &[Value<'m>],
    ) {
        let mut fields = self.fields.clone();
        fields[position("flags")] = module.const_i64(flags);
        let mut put = |name, list: &[Value<'m>], at: [&str; 2]| {
            let Some(first) = list.first() else {
                return;
            };
            let array = module.const_array(first.ty(), list);
            fields[position(at[0])] = *module.add_constant(name, array);
            fields[position(at[1])] = module.const_i64(list.len() as i64);
        };
        put("okl.direct", direct, ["direct", "direct_count"]);
        put("okl.stretches", stretches, ["stretches", "stretch_count"]);
        self.global.set_initializer(module.const_struct(&fields));
    }
}

/// Which field of a `RegionDescriptor` has that name.
fn position(field: &str) -> usize {
    let names = RegionDescriptor::NAMES;
    let found = names.iter().position(|name| *name == field);
    found.expect("the descriptor has the field")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence that its first number, which is not 0, determines.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % bound
        }

        fn number(&mut self) -> i64 {
            self.below(2000) as i64 - 1000
        }

        fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
            (self.below(2) == 0).then(|| make(self))
        }

        fn element(&mut self) -> Element {
            Element {
                scalar: Scalar {
                    bytes: 1 << self.below(4),
                    form: FORMS[self.below(FORMS.len())].0,
                },
                components: self.number(),
            }
        }

        fn access(&mut self, base: Base<'static>, kind: Kind, count: usize) -> Access<'static> {
            let is_number = kind == Kind::Number;
            Access {
                mode: match is_number {
                    true => Mode::Read,
                    false => MODES[self.below(MODES.len())].0,
                },
                must: self.below(2) == 0,
                optional: self.below(2) == 0,
                stated: self.below(2) == 0,
                element: match is_number {
                    true => Some(Element::NUMBER),
                    false => self.some(Self::element),
                },
                base,
                place: match self.below(5) {
                    0 => Place::Whole,
                    1 => Place::Own,
                    2 => Place::Anywhere,
                    which => {
                        let map = Base::Map(self.below(count));
                        let map = self.access(map, Kind::Number, count);
                        let map = Access {
                            element: self.some(|random| Element {
                                scalar: Scalar::INT,
                                components: random.number(),
                            }),
                            ..map
                        };
                        let number = self.below(9) as u32;
                        let columns = match which {
                            3 => Columns::One(number),
                            _ => Columns::First(number),
                        };
                        Place::Through(Box::new(map), columns)
                    }
                },
            }
        }

        fn record(&mut self) -> LoopRecord<'static> {
            let count = self.below(12) + 1;
            let kinds = (0..count).map(|_| KINDS[self.below(KINDS.len())].0);
            let kinds: Vec<_> = kinds.collect();
            let mut accesses = Vec::new();
            for (at, kind) in kinds.iter().enumerate() {
                accesses.push(self.access(Base::Argument(at), *kind, count));
            }
            while self.below(2) == 0 {
                let base = Base::Capture(self.below(9));
                accesses.push(self.access(base, Kind::Data(Storage::ByElement), count));
            }
            LoopRecord {
                origin: Origin::ALL[self.below(Origin::ALL.len())],
                kinds,
                accesses,
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut random = Random(1);
        for _ in 0..2000 {
            let record = random.record();
            let text = record.text().expect("it has no values");
            assert_eq!(text.parse(), Ok(record), "{text}");
        }
        let none = LoopRecord {
            origin: Origin::OpenMpLoop,
            kinds: Vec::new(),
            accesses: Vec::new(),
        };
        let text = none.text().expect("it has no values");
        assert_eq!(text.parse(), Ok(none));
    }

    #[test]
    fn the_form_is_that_of_its_version() {
        let text = "3; op_par_loop; either number unknown; may stated read argument:0 3xf64 column:1 may stated read map:0 2xi32 own; \
                    may stated read argument:1 1xi32 own; must found write argument:2 ?- whole";
        let record: LoopRecord<'_> = text.parse().expect("a record of this version");
        assert_eq!(record.text().as_deref(), Some(text));
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        for text in [
            "",
            "0",
            "2",
            "3",
            "3; op_par_loop",
            "3; element; may stated read argument:0 - own",
            "3; loop; element; may stated read argument:0 - own",
            "2; element; may stated read argument:0 - own",
            "3; op_par_loop; element",
            "3; op_par_loop; elements; may stated read argument:0 - own",
            "3; op_par_loop; element; may stated read argument:0 -",
            "3; op_par_loop; element; may stated read argument:0 - own own",
            "3; op_par_loop; element; may stated reads argument:0 - own",
            "3; op_par_loop; element; may stated read argument:1 - own",
            "3; op_par_loop; element; may stated read argument - own",
            "3; op_par_loop; element; may stated read argument:0 - own; may stated read argument:0 - own",
            "3; op_par_loop; element; may stated read argument:0 1xf63 own",
            "3; op_par_loop; element; may stated read argument:0 1xq64 own",
            "3; op_par_loop; element; may stated read argument:0 - column:0",
            "3; op_par_loop; element; may stated read argument:0 - column:0 may stated read map:1 - own",
            "3; op_par_loop; element; may stated read argument:0 - column:0 may stated write map:0 - own",
            "3; op_par_loop; element; may stated read argument:0 - column:-1 may stated read map:0 - own",
            "3; op_par_loop; number; may stated read argument:0 1xf64 own",
        ] {
            assert_eq!(text.parse::<LoopRecord<'_>>(), Err(NoRecord), "{text}");
        }
    }
}
