//! Regions and loops in words, as `print<okl-loops>` prints them.

use std::fmt;

use super::*;
use crate::diagnostic::user_name;

/// What was found, where: the first line of a region and of a loop.
fn heading(f: &mut fmt::Formatter<'_>, origin: Origin, site: Call<'_>) -> fmt::Result {
    let site = site.instruction();
    write!(f, "{origin} in {}", user_name(site.function()))?;
    match site.source_location() {
        Some((file, line)) => writeln!(f, " at {file}:{line}"),
        None => writeln!(f),
    }
}

impl fmt::Display for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, self.origin, self.site)?;
        writeln!(f, "  body {}", self.body.name())?;
        writeln!(f, "  {}", self.team)?;
        if self.condition.is_some() {
            writeln!(f, "  one thread unless a condition holds")?;
        }
        for (index, one) in self.captures.iter().enumerate() {
            let passing = match one.by_reference {
                true => "by reference",
                false => "by value",
            };
            writeln!(f, "  capture {index}: {passing}")?;
        }
        for one in &self.locals {
            let site = Site::Instruction(one.site.instruction());
            writeln!(f, "  a variable {} ({site})", one.kind)?;
        }
        if self.straight().is_none() {
            writeln!(f, "  steps that do not follow each other in a line")?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            write!(f, "  step {index}: {}", step.text(self.team))?;
            for edge in self.edges.iter().filter(|edge| edge.from == Some(index)) {
                match edge.to {
                    Some(to) => write!(f, "; {}, step {to}", edge.sync)?,
                    None => write!(f, "; {}", edge.sync)?,
                }
            }
            writeln!(f)?;
            if let Some((at, reason)) = &step.unknown {
                writeln!(f, "    unknown: it {reason} ({})", Site::Instruction(*at))?;
            }
        }
        Ok(())
    }
}

impl Step<'_> {
    /// What is run by the members of a team.
    fn text(&self, team: Team) -> String {
        let parts = self.parts.iter().map(|part| match (part, team) {
            (Part::Each(_), Team::Items) => "each work item".to_string(),
            _ => part.to_string(),
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Share(one) => f.write_str(&one.share()),
            Part::One(Who::Single, _) => f.write_str("one thread"),
            Part::One(Who::Master, _) => f.write_str("thread 0"),
            Part::One(Who::Masked, _) => f.write_str("a thread of a number"),
            Part::Each(_) => f.write_str("each thread"),
        }
    }
}

impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Team::Threads => "team",
            Team::League => "league",
            Team::Items => "work items",
        })
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sync::Fork => "fork",
            Sync::Barrier => "barrier",
            Sync::Join => "join",
        })
    }
}

impl ParallelLoop<'_> {
    /// What its iterations are, and how they are divided.
    pub fn share(&self) -> String {
        let mut text = match self.schedule {
            Schedule::Any => self.space.to_string(),
            schedule => format!("{schedule} {}", self.space),
        };
        text += match self.ordered {
            Some(true) => ", ordered",
            Some(false) => "",
            None => ", perhaps ordered",
        };
        if let Some(chunk) = self.chunk {
            text += &match chunk.as_constant_int() {
                Some(length) => format!(", chunks of {length}"),
                None => ", chunks of a computed length".to_string(),
            };
        }
        text
    }
}

impl fmt::Display for ParallelLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, self.origin, self.site)?;
        match &self.body {
            Body::Function(kernel) => writeln!(f, "  body {}", kernel.name())?,
            Body::Code(_) => {
                let function = self.site.instruction().function();
                writeln!(f, "  body in {}", function.name())?;
            }
            Body::Region(region) => {
                let lines = region.to_string();
                let lines = lines.lines().skip(1).map(|line| format!("{line}\n"));
                let lines: String = lines.collect();
                return write!(f, "  {}\n{lines}", self.share());
            }
        }
        writeln!(f, "  {}", self.share())?;
        for (index, kind) in self.kinds().iter().enumerate() {
            writeln!(f, "  arg {index}: {kind}")?;
        }
        write!(f, "{}", self.description)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::OpenMpParallel => "parallel region",
            Origin::OpenMpTeams => "teams region",
            Origin::OpenMpLoop => "worksharing loop",
            Origin::Op2ParLoop => "op_par_loop",
            Origin::OklOuter => "@outer loop",
            Origin::OklInner => "@inner loop",
        })
    }
}

impl fmt::Display for Space<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Range(extents) => {
                for (index, one) in extents.iter().enumerate() {
                    let times = if index == 0 { "" } else { " x " };
                    write!(f, "{times}{one}")?;
                }
                Ok(())
            }
            Space::Set { .. } => f.write_str("elements of a set"),
        }
    }
}

impl fmt::Display for Extent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { 'i' } else { 'u' };
        let end = match self.last.map(|last| last.as_constant_int()) {
            Some(Some(last)) => format!(" 0 to {last}"),
            Some(None) => String::new(),
            None => match self.most {
                Some(most) => format!(" 0 to at most {most}"),
                None => " of an unknown length".to_string(),
            },
        };
        write!(f, "{sign}{} loop{end}", self.width)?;
        match &self.counter {
            Some(counter) => write!(f, ", axis {}", counter.axis),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LocalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LocalKind::Shared => "shared by the work items of a block",
            LocalKind::Exclusive => "of each work item",
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Schedule::Any => "any order",
            Schedule::Static => "static",
            Schedule::StaticChunked => "static chunked",
            Schedule::Distribute => "distribute",
            Schedule::DistributeChunked => "distribute chunked",
            Schedule::Dynamic => "dynamic",
            Schedule::Guided => "guided",
            Schedule::Runtime => "runtime",
            Schedule::Auto => "auto",
            Schedule::Unknown => "unknown",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Number => "the number of an element",
            Kind::Data(Storage::ByElement) => "data by element",
            Kind::Data(Storage::Either {
                by_component: false,
            }) => "data by element or component",
            Kind::Data(Storage::Either { by_component: true }) => "data by component or element",
            Kind::Data(Storage::Unknown) => "data by element, which have no copies",
        })
    }
}
