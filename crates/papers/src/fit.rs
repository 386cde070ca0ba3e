//! Whether a published algorithm can be used on a history at all.

use super::{strong, vl_lwt};
use isoscope_check::checkers::building_blocks::not_linear;
use isoscope_check::checkers::{Cause, Checker};
use isoscope_model::control::{Control, Interrupt};
use isoscope_model::history::History;
use isoscope_model::relations::{Index, Resolution, has_real_time};

/// Why a checker would leave its levels of this history open, if it would; what wrong reads violate is decided in any case.
/// O(operations), and of MTC the index.
pub fn obstacle(
    history: &History,
    resolution: &Resolution,
    checker: Checker,
    control: &Control,
) -> Result<Option<Cause>, Interrupt> {
    if checker == Checker::Fast {
        return Ok(None);
    }
    if resolution.has_multiple_sources() {
        return Ok(Some(Cause::AmbiguousReads(
            resolution.reads_with_multiple_sources().len(),
        )));
    }
    Ok(match checker {
        Checker::VlLwt => not_linear(history, has_real_time(history))
            .or_else(|| vl_lwt::applies(history, resolution).err()),
        Checker::MiniTransactions => {
            let index =
                Index::build_with(history, resolution, &resolution.choice_of_none(), control)?;
            strong::unfit(history, &index, control)?
        }
        _ => None,
    })
}
