//! Teaches to overlap copies and kernels: two streams with pinned buffers, and events that show what ran when.

use std::time::Duration;

use cuda_driver::{
    Context, Driver, Event, EventFlags, Function, LaunchConfig, PinnedBuffer, Result, Stream,
};

/// Elements that one stage works on.
const LEN: usize = 1 << 18;
/// Stages go to the two streams in turn.
const STAGES: usize = 4;
/// How often the kernel changes each element.
const ROUNDS: u32 = 20;
const FACTOR: f32 = 0.5;
const OFFSET: f32 = 1.0;
const STEPS: [&str; 3] = ["copy up", "kernel", "copy down"];

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);
    let module = context.load_ptx(include_str!(env!("SCALE_PTX")))?;
    let scale = module.function("scale")?;
    let streams = [context.create_stream()?, context.create_stream()?];
    let mut buffers = (0..STAGES)
        .map(|stage| streams[stage % 2].pinned_from(&input(stage)))
        .collect::<Result<Vec<_>>>()?;

    // Both streams begin after this event, so all times count from it.
    let origin = context.create_event(EventFlags::TIMING)?;
    origin.record(&streams[0])?;
    streams[1].wait_for(&origin)?;
    let mut marks = Vec::new();
    for (stage, buffer) in buffers.iter_mut().enumerate() {
        marks.push(enqueue(&context, &streams[stage % 2], &scale, buffer)?);
    }
    println!("everything is enqueued, nothing was waited for yet");

    for (stage, buffer) in buffers.iter().enumerate() {
        // Waits for the copy down of this stage alone.
        let wrong = buffer.as_slice()?.iter().zip(input(stage));
        let wrong = wrong.filter(|(result, before)| **result != expected(*before));
        assert_eq!(wrong.count(), 0, "wrong elements in stage {stage}");
    }
    println!("all {} elements are right\n", STAGES * LEN);
    context.synchronize()?;
    let spans = spans(&origin, &marks)?;
    if driver.is_simulated() {
        println!("the times are those of the software driver's model of a device:");
    }
    print_timeline(&spans);
    print_overlap(&spans);
    Ok(())
}

/// Enqueues a stage: copy up, kernel, copy down. Returns the events before, between and after these steps.
fn enqueue(
    context: &Context,
    stream: &Stream,
    scale: &Function,
    buffer: &mut PinnedBuffer<f32>,
) -> Result<[Event; 4]> {
    let mark = || {
        let event = context.create_event(EventFlags::TIMING)?;
        event.record(stream)?;
        Ok::<_, cuda_driver::Error>(event)
    };
    let mut data = stream.zeroed::<f32>(LEN)?;
    let config = LaunchConfig::for_len(LEN);
    let before = mark()?;
    stream.copy(buffer, &mut data)?;
    let copied = mark()?;
    let n = u32::try_from(LEN)?;
    // SAFETY: the kernel changes the elements of `data` at indices below `n`.
    unsafe { scale.launch(stream, config, (&mut data, n, FACTOR, OFFSET, ROUNDS)) }?;
    let computed = mark()?;
    stream.copy(&data, buffer)?;
    // `data` is dropped here and freed in the order of its stream, after the copy.
    Ok([before, copied, computed, mark()?])
}

fn input(stage: usize) -> Vec<f32> {
    (0..LEN).map(|i| (i * (stage + 1)) as f32).collect()
}

fn expected(value: f32) -> f32 {
    (0..ROUNDS).fold(value, |value, _| value.mul_add(FACTOR, OFFSET))
}

/// One step of one stage, from when to when.
struct Span {
    stage: usize,
    step: usize,
    start: Duration,
    end: Duration,
}

fn spans(origin: &Event, marks: &[[Event; 4]]) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    for (stage, marks) in marks.iter().enumerate() {
        for (step, mark) in marks.windows(2).enumerate() {
            spans.push(Span {
                stage,
                step,
                start: mark[0].elapsed_since(origin)?,
                end: mark[1].elapsed_since(origin)?,
            });
        }
    }
    Ok(spans)
}

fn print_timeline(spans: &[Span]) {
    const WIDTH: f64 = 60.0;
    let total = spans.iter().map(|span| span.end).max().unwrap_or_default();
    let column = |time: Duration| {
        let share = time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        (share * WIDTH) as usize
    };
    for span in spans {
        let (start, end) = (column(span.start), column(span.end));
        println!(
            "stream {} stage {} {:<10}{:>8.3} ms |{}{}",
            span.stage % 2,
            span.stage,
            STEPS[span.step],
            (span.end - span.start).as_secs_f64() * 1e3,
            " ".repeat(start),
            "#".repeat((end - start).max(1))
        );
    }
}

/// Says which steps of one stream ran at the same time as a step of the other.
fn print_overlap(spans: &[Span]) {
    let mut sum = Duration::ZERO;
    println!();
    for (index, one) in spans.iter().enumerate() {
        for other in &spans[index + 1..] {
            let common = one.end.min(other.end);
            let common = common.saturating_sub(one.start.max(other.start));
            if one.stage % 2 != other.stage % 2 && !common.is_zero() {
                sum += common;
                println!(
                    "{} of stage {} and {} of stage {} overlapped for {:.3} ms",
                    STEPS[one.step],
                    one.stage,
                    STEPS[other.step],
                    other.stage,
                    common.as_secs_f64() * 1e3
                );
            }
        }
    }
    if sum.is_zero() {
        println!("nothing overlapped: each step ran after the one before");
    }
}
