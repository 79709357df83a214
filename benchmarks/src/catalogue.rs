//! The benchmark programs and the sizes they run at. Every program takes its sizes and then the
//! number of iterations.

/// What okl promises for a program: the bound on its time relative to hand-written MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The partition of the data never changes.
    Regular,
    /// The partition changes, or accesses go through index arrays.
    Changing,
}

impl Kind {
    /// The largest okl : hand MPI that is aimed at.
    pub(crate) fn bound(self) -> f64 {
        match self {
            Kind::Regular => 1.10,
            Kind::Changing => 1.25,
        }
    }
}

/// A number of arguments and of iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) arguments: &'static [u32],
    pub(crate) iterations: u32,
}

/// What okl may communicate in an iteration, on 2 ranks as nodes: a test, since it does not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// Messages that carry data, as a multiple of hand-written MPI's.
    pub(crate) messages: f64,
    /// Bytes of data, likewise.
    pub(crate) bytes: f64,
    /// Page faults, on average.
    pub(crate) faults: f64,
}

/// What is aimed at.
const AS_BY_HAND: Most = Most {
    messages: 1.1,
    bytes: 1.1,
    faults: 0.0,
};

/// Who does what depends on time there, or pages carry the data: no bound holds.
const UNBOUNDED: Most = Most {
    messages: f64::INFINITY,
    bytes: f64::INFINITY,
    faults: f64::INFINITY,
};

/// One row of the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    /// The folder of its sources.
    pub(crate) source: &'static str,
    pub(crate) kind: Kind,
    pub(crate) full: Size,
    /// For the test: every part of the program runs, and nothing is measured.
    pub(crate) smoke: Size,
    /// The relative difference between checksums that is still right; 0 where both versions
    /// compute the same bits.
    pub(crate) tolerance: f64,
    pub(crate) most: Most,
}

const fn size(arguments: &'static [u32], iterations: u32) -> Size {
    Size {
        arguments,
        iterations,
    }
}

/// All of them, in the order of the tables.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "jacobi-1002",
        source: "jacobi",
        kind: Kind::Regular,
        full: size(&[1002], 3000),
        smoke: size(&[35], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "jacobi-4002",
        source: "jacobi",
        kind: Kind::Regular,
        full: size(&[4002], 60),
        smoke: size(&[64], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "stencil7",
        source: "stencil7",
        kind: Kind::Regular,
        full: size(&[202], 60),
        smoke: size(&[13], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "stencil13",
        source: "stencil13",
        kind: Kind::Regular,
        full: size(&[204], 40),
        smoke: size(&[19], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "triad",
        source: "triad",
        kind: Kind::Regular,
        full: size(&[8_000_000], 60),
        smoke: size(&[3001], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "matmul",
        source: "matmul",
        kind: Kind::Regular,
        full: size(&[800], 10),
        smoke: size(&[33], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "ep",
        source: "ep",
        kind: Kind::Regular,
        full: size(&[2_000_000], 30),
        smoke: size(&[2001], 2),
        tolerance: 1e-9,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "listing61",
        source: "listing61",
        kind: Kind::Regular,
        full: size(&[1002], 100),
        smoke: size(&[42], 3),
        tolerance: 1e-3,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "solver",
        source: "solver",
        kind: Kind::Regular,
        full: size(&[1000], 20),
        smoke: size(&[37], 2),
        tolerance: 1e-9,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "views",
        source: "views",
        kind: Kind::Regular,
        full: size(&[1000], 60),
        smoke: size(&[37], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "wavefront",
        source: "wavefront",
        kind: Kind::Regular,
        full: size(&[2000], 20),
        smoke: size(&[130], 2),
        tolerance: 0.0,
        most: UNBOUNDED,
    },
    Benchmark {
        name: "clusters",
        source: "clusters",
        kind: Kind::Regular,
        full: size(&[20_000], 1000),
        smoke: size(&[501], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "transpose",
        source: "transpose",
        kind: Kind::Changing,
        full: size(&[2000], 80),
        smoke: size(&[37], 3),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "fft",
        source: "fft",
        kind: Kind::Changing,
        full: size(&[1024], 30),
        smoke: size(&[32], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "cg",
        source: "cg",
        kind: Kind::Changing,
        full: size(&[150_000], 20),
        smoke: size(&[301], 1),
        tolerance: 1e-9,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "multigrid",
        source: "multigrid",
        kind: Kind::Changing,
        full: size(&[10], 100),
        smoke: size(&[6], 2),
        tolerance: 0.0,
        most: Most {
            messages: 1.8,
            ..AS_BY_HAND
        },
    },
    Benchmark {
        name: "sort",
        source: "sort",
        kind: Kind::Changing,
        full: size(&[4_000_000], 20),
        smoke: size(&[5001], 2),
        tolerance: 0.0,
        most: Most {
            messages: 3.1,
            ..AS_BY_HAND
        },
    },
    Benchmark {
        name: "adi",
        source: "adi",
        kind: Kind::Changing,
        full: size(&[1500], 20),
        smoke: size(&[37], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "pencils",
        source: "pencils",
        kind: Kind::Changing,
        full: size(&[128], 20),
        smoke: size(&[16], 2),
        tolerance: 0.0,
        most: AS_BY_HAND,
    },
    Benchmark {
        name: "graph",
        source: "graph",
        kind: Kind::Changing,
        full: size(&[500], 12),
        smoke: size(&[203], 1),
        tolerance: 0.0,
        most: UNBOUNDED,
    },
    Benchmark {
        name: "tasktree",
        source: "tasktree",
        kind: Kind::Changing,
        full: size(&[5, 150_000], 10),
        smoke: size(&[3, 300], 2),
        tolerance: 0.0,
        most: UNBOUNDED,
    },
];
