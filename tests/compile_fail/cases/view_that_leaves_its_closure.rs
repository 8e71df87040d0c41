use cuda_driver::{Context, DeviceSliceMut, Lender, Result, Stream};

fn leave(context: &Context, stream: &Stream) -> Result<()> {
    let mut kept: Option<DeviceSliceMut<'_, f32>> = None;
    let lender = Lender::Stream(stream);
    unsafe {
        context.with_borrowed_memory::<f32, _, _>(256, 10, lender, |memory| kept = Some(memory))
    }?;
    drop(kept);
    Ok(())
}

fn main() {}
