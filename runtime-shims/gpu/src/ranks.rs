//! Kernels of a rank, whose memory is that of the run time for ranks.
//!
//! Guarantee: a kernel finds what the program's code would find on its rank, and stores of that code could have left what it
//! leaves: of what it may access ([`accessed`]) copies are made by loads, for which the other library fetches what other ranks
//! have, and bytes that the kernel changed are stored. No other byte is, as it may be another rank's.

use std::ops::Range;

use okl_abi::devices::{Around, ForDevices, around};
use okl_abi::gpu::parameter;

use crate::accessed;
use crate::described::Described;
use crate::offload::{Copied, Copies, Part, words};
use crate::places::{self, Context};
use crate::program::{self, State, runs};
use crate::values::Values;
use crate::versions::Version;

/// Works with the device, or whatever needs memory that is this process's alone.
pub fn apart<R>(job: &ForDevices, body: impl FnOnce(&mut State) -> R) -> R {
    (job.private)(1);
    let result = program::with(body);
    (job.private)(0);
    result
}

/// As `okl_gpu_launch_v6`, on a rank: whether the kernel ran. Where it is not known what its addresses lead to it is not
/// launched.
///
/// # Safety
/// The values are those of the kernel's parameters, and its results have room.
pub unsafe fn launch(
    job: &ForDevices,
    kernel: &Described,
    sizes: [[i64; 3]; 2],
    (values, version): (Values, Option<Version>),
    frame: usize,
    has_processor: bool,
) -> Result<bool, String> {
    if !apart(job, |state| runs(state, kernel, has_processor))? {
        return Ok(false);
    }
    let context = Context {
        frame,
        has_arena: false,
    };
    let accessed = accessed::all(kernel, &values);
    let (mut ranges, mut parts) = (Vec::new(), Vec::new());
    let mut objects = Vec::new();
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        if parameter.kind & parameter::ADDRESS == 0 || parameter.kind & parameter::OF_LIBRARY != 0 {
            continue;
        }
        let writes = parameter.kind & parameter::WRITTEN != 0;
        let address = values.address(at);
        let Around { what, start, end } = (job.around)(address, frame);
        let object = match what {
            around::SHARED => Some(start..end),
            around::OTHER => places::around(address, context),
            _ => return Ok(false),
        };
        // What is no memory stays what it is.
        let Some(object) = object else {
            continue;
        };
        let mut said = accessed.iter().filter(|one| one.parameter == at).peekable();
        match said.peek() {
            None => parts.push((object.clone(), writes)),
            Some(_) => {
                let said = said.map(|one| (one.of(&object, address), one.writes && writes));
                parts.extend(said.filter(|(part, _)| !part.is_empty()));
            }
        }
        objects.push((at, object.start));
        ranges.push((object, writes));
    }
    let mut all = Vec::new();
    let mut parts = places::joined(parts).into_iter().peekable();
    for (range, _) in places::joined(ranges) {
        let mut copied = Copied {
            range,
            parts: Vec::new(),
        };
        // Parts are in one range each: ranges that touch are one.
        while let Some((part, writes)) = parts.next_if(|(part, _)| part.start < copied.range.end) {
            copied.parts.push(Part {
                contents: contents(job, &part),
                range: part,
                writes,
                after: Vec::new(),
            });
        }
        all.push(copied);
    }
    let copies = Copies { all, objects };
    let words = words(kernel.name, kernel.place);
    let (all, results) = apart(job, |state| match state {
        // SAFETY: the caller's promise.
        State::Device(offload) => unsafe {
            offload.launch_on_copies(kernel, sizes, (values, version), copies)
        },
        _ => Err(format!("{words}: the device is gone")),
    })?;
    for part in all.iter().flat_map(|copy| &copy.parts) {
        if part.writes {
            // SAFETY: what the kernel wrote the program may write.
            unsafe { places::write_changes(part.range.start, &part.contents, &part.after) };
        }
    }
    for (address, bytes) in &results {
        let to = std::ptr::with_exposed_provenance_mut::<u8>(*address);
        // SAFETY: the program has room for as many bytes there.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }
    Ok(true)
}

/// What the program would find in a range.
fn contents(job: &ForDevices, range: &Range<usize>) -> Vec<u8> {
    (job.bring)(range.start, range.len());
    // A buffer is no memory of the program's.
    (job.private)(1);
    let mut copy = vec![0_u8; range.len()];
    (job.private)(0);
    let from = std::ptr::with_exposed_provenance::<u8>(range.start);
    // SAFETY: memory of the program's, which loads may find protected: then the other library serves them.
    unsafe { std::ptr::copy_nonoverlapping(from, copy.as_mut_ptr(), range.len()) };
    copy
}
