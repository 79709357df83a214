//! What the user asks of the machine, and what tests have go wrong: `OKL_PTX_MACHINE=WORD,WORD`. An unknown word is an error.

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `devices=0`: there is none.
    pub devices: u32,
    /// `driver=11020`: how new the driver is, as CUDA numbers it.
    pub driver: i32,
    /// `capability=90`: what the device can do, as `sm_90`.
    pub capability: u32,
    /// `memory=BYTES`: how much there is.
    pub memory: u64,
    /// `lost=N`: behind so many launches the device is lost.
    pub lost: Option<u64>,
    /// `seed=N`: the order of blocks and warps; 0: as they are numbered.
    pub seed: u64,
    /// `races=0`: races are not looked for.
    pub races: bool,
    /// `instructions=N`: a launch that takes more warp instructions ends in an error.
    pub instructions: u64,
    /// `counts`: what kernels cost is told when the device is given back, or the program ends.
    pub counts: bool,
    /// `lines`: so is how often warps came to each line of the PTX that has an instruction.
    pub lines: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            driver: 13_000,
            capability: 90,
            memory: 16 << 30,
            lost: None,
            seed: 0,
            races: true,
            instructions: u64::MAX,
            counts: false,
            lines: false,
        }
    }
}

/// The variable.
pub const NAME: &str = "OKL_PTX_MACHINE";

impl Settings {
    /// What a text says.
    pub fn of(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let number = value.parse::<u64>();
            let mut is_known = true;
            match (name, number) {
                ("devices", Ok(number @ 0..=1)) => settings.devices = number as u32,
                ("driver", Ok(number @ 1000..=99_999)) => settings.driver = number as i32,
                ("capability", Ok(number @ 50..=130)) => settings.capability = number as u32,
                ("memory", Ok(number)) => settings.memory = number,
                ("lost", Ok(number)) => settings.lost = Some(number),
                ("seed", Ok(number)) => settings.seed = number,
                ("races", Ok(number @ 0..=1)) => settings.races = number == 1,
                ("instructions", Ok(number)) => settings.instructions = number,
                ("counts", Err(_)) if value.is_empty() => settings.counts = true,
                ("lines", Err(_)) if value.is_empty() => settings.lines = true,
                _ => is_known = false,
            }
            if !is_known {
                return Err(format!(
                    "{NAME}={text}: valid words are devices=0 or 1, driver=N, capability=N, memory=BYTES, lost=LAUNCHES, \
                     seed=N, races=0 or 1, instructions=N, counts, and lines"
                ));
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_an_error() {
        let settings = Settings::of("driver=11020,lost=2,seed=7,counts").expect("known words");
        assert_eq!(
            (settings.driver, settings.lost, settings.seed),
            (11_020, Some(2), 7)
        );
        assert!(settings.counts);
        assert_eq!(Settings::of("").expect("nothing"), Settings::default());
        for wrong in ["speed=1", "devices=2", "counts=1", "seed"] {
            let error = Settings::of(wrong).expect_err("not known");
            assert!(
                error.starts_with(&format!("OKL_PTX_MACHINE={wrong}: valid words are ")),
                "{error}"
            );
        }
    }
}
