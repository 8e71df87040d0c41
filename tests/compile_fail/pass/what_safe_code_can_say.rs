use cuda_driver::{DeviceSlice, Driver, Result};

fn first(slice: DeviceSlice<'_, u32>) -> Result<u32> {
    Ok(slice.into_slice(..1)?.to_vec()?[0])
}

fn main() -> Result<()> {
    let context = Driver::simulated()?.device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    let mut memory = stream.zeroed::<u32>(10)?;
    let (mut left, mut right) = memory.as_mut_slice().split_at_mut(5)?;
    context.per_thread_stream().fill(&mut left, 1)?;
    std::thread::scope(|scope| scope.spawn(|| stream.fill(&mut right, 2)).join()).unwrap()?;
    assert_eq!(first(memory.slice(4..)?)?, 1);
    let mut buffer = stream.pinned_zeroed::<u32>(10)?;
    stream.copy(&memory, &mut buffer)?;
    assert_eq!(buffer.as_slice()?[9], 2);
    let count = 3;
    stream.host_function(move || assert_eq!(count, 3))?;
    stream.synchronize()?;
    drop((memory, buffer));
    stream.close()?;
    context.close()?;
    Ok(())
}
