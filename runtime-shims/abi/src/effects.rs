//! What calling a runtime function means to an analysis of the program, stated on the function's line in the list.

/// A set of effects. What a set lacks is not known: a function with none may do anything that OpenMP lets it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(u64);

impl Effects {
    /// No promise, no property.
    pub const NONE: Self = Self(0);

    // Memory.
    /// Accesses nothing of the program's but what its pointers point to, and keeps none of them; synchronises nothing.
    pub const QUIET: Self = Self(1 << 0);
    /// Accesses only memory of the run time's own, in which no thread learns anything of another: loads and stores of
    /// the program may move across it.
    pub const HIDDEN: Self = Self(1 << 1);
    /// Has none of the program's objects by name: it accesses what its arguments lead to, and of the program's code it runs
    /// only what they lead to.
    pub const APART: Self = Self(1 << 31);
    /// Accesses the object that its first argument points to, if that is a pointer, as one; keeps no pointer.
    pub const ATOMIC: Self = Self(1 << 2);
    /// Changes that object and does nothing else. The run time sees to it that others see the change.
    pub const UPDATES: Self = Self(1 << 3);
    /// Accesses what threads share in other ways than loads and stores do, or runs or stops what does.
    pub const UNPLAIN: Self = Self(1 << 4);

    // Synchronisation.
    /// Ranks may exchange memory here, so nothing that is declared reaches across; nothing else needs to be declared.
    pub const SEPARATES: Self = Self(1 << 5);
    /// What other threads released is seen after it.
    pub const ACQUIRES: Self = Self(1 << 6);
    /// The threads of a team wait for each other.
    pub const BARRIER: Self = Self(1 << 7);
    /// Combines what `list` points to among the team's threads, by a function. The argument `reach` says what that may
    /// access.
    pub const REDUCES: Self = Self(1 << 8);
    /// `flush` (OpenMP 5.2, section 15.8.5).
    pub const FLUSHES: Self = Self(1 << 9);
    /// Only orders threads: in a team of one it changes nothing that the program sees, and answers the same each time.
    pub const ORDERS: Self = Self(1 << 10);
    /// Gives other threads time.
    pub const YIELDS: Self = Self(1 << 11);

    // Constructs.
    /// Begins a region: `region` describes it, `args` are the captured values.
    pub const FORKS: Self = Self(1 << 12);
    /// Begins a region as OpenMP's run time does: its threads run `body`, of which it has one only where there is a
    /// `condition` that is 0. The captured values follow the parameters.
    pub const FORKS_BODY: Self = Self(1 << 28);
    /// The threads are the teams of a league.
    pub const LEAGUE: Self = Self(1 << 29);
    /// Runs a loop of OP2's: `range` runs some of its elements.
    pub const RUNS_LOOP: Self = Self(1 << 32);
    /// Has versions of code: a version calls what receives it in place of this function, with the same parameters.
    pub const HAS_VERSIONS: Self = Self(1 << 33);
    /// Writes the bounds of this thread's share of a loop, of which `lower` is one.
    pub const SHARES: Self = Self(1 << 13);
    /// The iterations of the loop are counted without a sign.
    pub const UNSIGNED: Self = Self(1 << 14);
    /// Begins to deal out the iterations of a loop as `schedule` says.
    pub const DEALS: Self = Self(1 << 15);
    /// Ends a loop of which each thread has had one share.
    pub const ENDS_SHARE: Self = Self(1 << 22);
    /// Ends a loop whose iterations have been dealt out.
    pub const ENDS_DEAL: Self = Self(1 << 23);
    /// Begins code for one thread, and answers whether it is the caller: any of them, unless more is said.
    pub const CHOOSES: Self = Self(1 << 24);
    /// Ends such code.
    pub const ENDS_CHOICE: Self = Self(1 << 25);
    /// It is code for the thread with number 0.
    pub const FIRST: Self = Self(1 << 26);
    /// It is code for the threads with a number that is computed: `filter`.
    pub const FILTERED: Self = Self(1 << 27);
    /// Enters the critical section that `name` stands for.
    pub const ENTERS: Self = Self(1 << 20);
    /// Leaves it.
    pub const LEAVES: Self = Self(1 << 21);
    /// Asks or sets an internal control variable (OpenMP 5.2, chapter 2), or asks who the caller is, or for the time.
    pub const ASKS: Self = Self(1 << 16);
    /// Answers something else only after another function of the run time has been called: it may leave loops, and loads
    /// and stores may move across it.
    pub const ANSWERS: Self = Self(1 << 17);

    // The run time.
    /// Ours has nothing in its place: a program that uses it is refused.
    pub const UNSUPPORTED: Self = Self(1 << 30);
    /// Runs code of the program, whose exceptions and `longjmp`s may pass through it.
    pub const MAY_UNWIND: Self = Self(1 << 19);

    /// These, and those of `other`.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are among these.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some of `other` are among these.
    pub const fn has_some(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
