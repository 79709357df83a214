//! What `auto` is to reach, and what it does.

use super::ranks::Sent;
use super::{CHAIN, OnRanks, Program, Timing};
use crate::aims::Aims;

/// `auto` may take so much of the time of the best way by hand.
const OF_HAND: f64 = 1.05;
/// The part of the messages that a chain with overlapping tiles may send.
const OF_MESSAGES: f64 = 0.5;

impl Aims {
    /// Of the sizes of which something is asked.
    pub(super) fn note(&mut self, program: &Program, timing: &Timing) {
        let mut aims = program.aims.iter();
        let Some((size, least)) = aims.find(|(size, _)| *size == timing.size) else {
            return;
        };
        let auto = timing.named(&format!("{CHAIN}auto"));
        let noun = if timing.threads == 1 {
            "thread"
        } else {
            "threads"
        };
        let what = format!("{} {size}, {} {noun}: `auto`", program.name, timing.threads);
        let gain = auto.and_then(|auto| timing.gain(auto));
        let gain = gain.map(|of| of.median);
        self.add(
            format!("{what}, times as fast as the plain loops"),
            format!("{least:.2} at least"),
            gain,
            |found| found >= *least,
        );
        let hand = timing.by_hand();
        let part = auto.zip(hand).and_then(|(auto, hand)| hand.gain_over(auto));
        let hand = hand.map_or("none", |hand| hand.name.as_str());
        self.add(
            format!("{what}, times the time of the best way by hand, `{hand}`"),
            format!("{OF_HAND:.2} at most"),
            part.map(|of| of.median),
            |found| found <= OF_HAND,
        );
    }

    /// Of chains whose tiles overlap.
    pub(super) fn note_sent(&mut self, program: &Program, on_ranks: &OnRanks, sent: &[Sent]) {
        let overlap = sent.iter().find(|one| one.way == format!("{CHAIN}overlap"));
        let (Some(overlap), Some(plain)) = (overlap, sent.first()) else {
            return;
        };
        let messages = |one: &Sent| one.counts.as_ref().ok().map(|counts| counts[0]);
        let part = messages(overlap).zip(messages(plain));
        self.add(
            format!(
                "{}, {}, 2 ranks: messages of `{}`, times those of the plain loops",
                program.name, on_ranks.what, overlap.way
            ),
            format!("{OF_MESSAGES:.2} at most"),
            part.map(|(overlap, plain)| overlap / plain),
            // A chain that sends nothing runs on one of them.
            |found| found > 0.0 && found <= OF_MESSAGES,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PROGRAMS, ways};
    use super::*;

    #[test]
    fn auto_is_compared_with_plain_loops_and_with_the_best_by_hand() {
        let stdout = "way plain seconds 3 bytes 8\nway rows seconds 1 bytes 1\nway slower seconds 2 bytes 1\n\
                      way chain:auto seconds 1.04 bytes 0\n";
        let flux = PROGRAMS.iter().find(|program| program.name == "flux");
        let flux = flux.expect("it is one of them");
        let mut aims = Aims::default();
        for (size, _) in flux.sizes {
            let timing = Timing {
                size,
                threads: 1,
                ways: ways(stdout),
            };
            aims.note(flux, &timing);
        }
        let found: Vec<_> = aims.0.iter().map(|one| (one.2.as_str(), one.3)).collect();
        assert_eq!(
            found,
            [
                ("2.88", true),
                ("1.04", true),
                ("2.88", true),
                ("1.04", true)
            ]
        );
        let sent = |way: &str, counts| Sent {
            way: way.to_owned(),
            counts,
        };
        let all = [
            sent("plain", Ok([8.0, 1.0])),
            sent("chain:overlap", Ok([5.0, 1.0])),
        ];
        aims.note_sent(flux, &flux.on_ranks[0], &all);
        let last = aims.0.last().expect("one more");
        assert_eq!((last.2.as_str(), last.3), ("0.62", false));
        let alone = sent("chain:overlap", Ok([0.0, 0.0]));
        aims.note_sent(
            flux,
            &flux.on_ranks[0],
            &[sent("plain", Ok([8.0, 1.0])), alone],
        );
        assert!(!aims.0.pop().expect("one more").3);
        aims.note_sent(flux, &flux.on_ranks[0], &[sent("plain", Ok([8.0, 1.0]))]);
        assert_eq!(aims.0.len(), 5);
        let refused = sent("chain:overlap", Err("why".to_owned()));
        aims.note_sent(
            flux,
            &flux.on_ranks[0],
            &[sent("plain", Ok([8.0, 1.0])), refused],
        );
        assert!(
            aims.table()
                .ends_with("| 0.50 at most | not known | **not reached** |\n")
        );
    }
}
