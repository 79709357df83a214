//! What lanes need to know of the arguments of a loop over a set.

/// Where the element of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanePlace {
    /// At the number of the element.
    Direct,
    /// Where a column of a map leads.
    Mapped,
    /// Where several columns of a map lead.
    Columns,
    /// No element: its number.
    Number,
    /// The same for all.
    Global,
}

/// How the components of the lanes' elements lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneStorage {
    /// Those of one element side by side.
    ByElement,
    /// In either way; the program says that those of one element lie side by side.
    Either,
    /// In either way; the program says that those of all elements lie side by side.
    EitherByComponent,
    /// Those of all elements side by side.
    ByComponent,
}

/// How the body accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneAccess {
    /// Reads only.
    Read,
    /// Writes without reading.
    Write,
    /// Reads and writes.
    ReadWrite,
    /// Only adds to it.
    Increment,
    /// Only replaces it by something smaller.
    Min,
    /// Only replaces it by something larger.
    Max,
}

/// An argument of a loop, as far as lanes need to know it.
#[derive(Clone, Copy, Debug)]
pub struct LaneArgument {
    /// Where its elements are.
    pub place: LanePlace,
    /// What is done to them.
    pub access: LaneAccess,
    /// Bytes of a component.
    pub bytes: i64,
    /// Whether components are `float` or `double`.
    pub is_floating: bool,
    /// Whether they may be negative.
    pub is_signed: bool,
    /// How many an element has.
    pub components: i64,
    /// How many columns of the map are used at once.
    pub columns: i64,
    /// The first argument that is expected to use the same columns of the same map.
    pub leader: usize,
    /// Columns that its map is expected to have; 0 where anything is.
    pub arity: i64,
    /// Bytes from one element to the next; 0 where they are not known.
    pub size: i64,
    /// How its components lie.
    pub storage: LaneStorage,
}

impl LaneArgument {
    /// Whether its element is that of a map's target.
    pub fn is_indirect(&self) -> bool {
        matches!(self.place, LanePlace::Mapped | LanePlace::Columns)
    }

    /// Whether elements that are worked on at once may have it in common.
    pub fn is_shared(&self) -> bool {
        self.is_indirect() || self.place == LanePlace::Global
    }

    /// Whether its components do not lie side by side.
    pub fn is_by_component(&self) -> bool {
        self.storage == LaneStorage::ByComponent
    }
}
