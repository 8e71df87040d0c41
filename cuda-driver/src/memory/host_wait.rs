//! The host's wait for what the device does to memory.

use crate::context::PooledEvent;
use crate::error::Result;
use crate::order::{Order, Sound};
use crate::process;
use crate::stream::StreamCore;

/// Makes the host wait for everything that is in flight on memory, or for all that writes to it.
pub(super) fn wait_on_host(order: &Order<StreamCore>, writes_only: bool) -> Result<()> {
    process::permit()?;
    if order.is_lost() {
        // Which operation it was is not known; when nothing runs in the context any more, it is done.
        order.domain().synchronize()?;
        order.find();
    }
    let events = order.pending::<Sound>(writes_only)?;
    for event in &events {
        event.synchronize()?;
    }
    if !events.is_empty() {
        let done = |event: &PooledEvent| events.iter().any(|known| known.is_same(event));
        order.forget::<Sound>(done);
    }
    Ok(())
}
