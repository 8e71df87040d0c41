//! Teaches what failures look like: each mistake is made on purpose, its error printed as a user sees it, and checked.

use std::process::{Command, ExitCode};

use cuda_driver::{Context, Driver, Error, ErrorKind, LaunchConfig, Result};

const VECTOR_ADD: &str = include_str!(env!("VECTOR_ADD_PTX"));
const FAULT: &str = include_str!(env!("FAULT_PTX"));

/// What this program is told as the child that makes a kernel fail.
const FAULT_ARGUMENT: &str = "fault";

fn main() -> Result<ExitCode> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    let mut lesson = Lesson { wrong: 0 };
    if std::env::args().nth(1).as_deref() == Some(FAULT_ARGUMENT) {
        kernel_fault(&mut lesson, &context)?;
    } else {
        println!("{driver}: {}", context.device().name()?);
        finding(&mut lesson, &driver);
        loading(&mut lesson, &context)?;
        arguments(&mut lesson, &context)?;
        memory(&mut lesson, &context)?;
        limits(&mut lesson, &context)?;
        println!(
            "\nwhat a kernel that fails does, in a process of its own because the context is lost"
        );
        lesson.check(child_succeeds(), "the child failed");
    }
    if lesson.wrong != 0 {
        println!("\n{} of these are not as they should be", lesson.wrong);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints errors, and counts those that are not as expected.
struct Lesson {
    wrong: u32,
}

impl Lesson {
    /// Shows one mistake: its error must be of that kind, and its message must contain what helps the reader.
    fn show<T>(&mut self, mistake: &str, result: Result<T>, kind: ErrorKind, helps: &str) {
        println!("\n{mistake}");
        match result {
            Ok(_) => self.check(false, "this succeeded"),
            Err(error) => {
                print_indented(&error);
                self.check(error.kind() == kind, "this is of the wrong kind");
                self.check(error.to_string().contains(helps), "this does not help");
            }
        }
    }

    fn check(&mut self, right: bool, otherwise: &str) {
        if !right {
            println!("  WRONG: {otherwise}");
            self.wrong += 1;
        }
    }
}

fn print_indented(error: &Error) {
    for line in error.to_string().lines() {
        println!("  {line}");
    }
}

fn finding(lesson: &mut Lesson, driver: &Driver) {
    let path = "/there/is/no/libcuda.so.1";
    // SAFETY: nothing is loaded, because there is no such file.
    let result = unsafe { Driver::load_from(path) };
    let kind = ErrorKind::LibraryNotFound;
    lesson.show("a driver library that does not exist", result, kind, path);

    let kind = ErrorKind::InvalidDevice;
    lesson.show(
        "a device that does not exist",
        driver.device(99),
        kind,
        "device 99",
    );
}

fn loading(lesson: &mut Lesson, context: &Context) -> Result<()> {
    let kind = ErrorKind::InvalidImage;
    let broken = VECTOR_ADD.replace("add.f32 %z, %x, %y;", "add.f32 %z, %x, %y");
    let result = context.load_ptx(&broken);
    lesson.show(
        "PTX that lacks a semicolon",
        result,
        kind,
        "add.f32 %z, %x, %y\n",
    );

    let newer = VECTOR_ADD.replace(".version 7.0", ".version 99.0");
    let result = context.load_ptx(&newer);
    lesson.show("PTX that is newer than the driver", result, kind, "99.0");

    let module = context.load_ptx(VECTOR_ADD)?;
    let result = module.function("vector_sum");
    let kind = ErrorKind::NotFound;
    lesson.show(
        "a kernel that does not exist",
        result,
        kind,
        "it has `vector_add`",
    );
    Ok(())
}

fn arguments(lesson: &mut Lesson, context: &Context) -> Result<()> {
    let vector_add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
    let stream = context.create_stream()?;
    let a = stream.upload(&[1.0_f32; 4])?;
    let mut sum = stream.zeroed::<f32>(4)?;
    let config = LaunchConfig::for_len(4);
    let kind = ErrorKind::ArgumentMismatch;

    // SAFETY: nothing is launched, because an argument is missing.
    let result = unsafe { vector_add.launch(&stream, config, (&a, &a, &mut sum)) };
    lesson.show(
        "a launch without the last argument",
        result,
        kind,
        "3 arguments",
    );

    // SAFETY: nothing is launched, because the last parameter has four bytes.
    let result = unsafe { vector_add.launch(&stream, config, (&a, &a, &mut sum, 4_u64)) };
    lesson.show(
        "a launch with a number of the wrong size",
        result,
        kind,
        "the kernel takes 4",
    );
    Ok(())
}

fn memory(lesson: &mut Lesson, context: &Context) -> Result<()> {
    let stream = context.create_stream()?;
    let mut four = stream.zeroed::<u32>(4)?;
    let result = stream.copy(&[1_u32, 2, 3], &mut four);
    let kind = ErrorKind::InvalidArgument;
    lesson.show("a copy from three elements to four", result, kind, "3");

    let result = four.slice(2..7);
    lesson.show("a range beyond the end", result, kind, "7");

    let twice = 2 * context.device().total_memory()?;
    let result = stream.zeroed::<u8>(twice);
    let kind = ErrorKind::OutOfMemory;
    lesson.show(
        "twice the memory that the device has",
        result,
        kind,
        "memory",
    );
    Ok(())
}

fn limits(lesson: &mut Lesson, context: &Context) -> Result<()> {
    let vector_add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
    let stream = context.create_stream()?;
    let a = stream.upload(&[1.0_f32; 4])?;
    let mut sum = stream.zeroed::<f32>(4)?;

    let config = LaunchConfig::new(1, 2048);
    // SAFETY: the kernel accesses nothing at an index of 4 or more, whatever the configuration is.
    let result = unsafe { vector_add.launch(&stream, config, (&a, &a, &mut sum, 4)) };
    let kind = ErrorKind::LaunchTooLarge;
    lesson.show("2,048 threads in a block", result, kind, "limit of 1024");

    let config = LaunchConfig::new(1, 128).with_dynamic_shared_bytes(100_000);
    // SAFETY: as above.
    let result = unsafe { vector_add.launch(&stream, config, (&a, &a, &mut sum, 4)) };
    let helps = "set_max_dynamic_shared_bytes(100000)";
    lesson.show(
        "100,000 bytes of dynamic shared memory",
        result,
        kind,
        helps,
    );
    Ok(())
}

/// Runs this program again, as the child that makes a kernel fail.
fn child_succeeds() -> bool {
    let child = std::env::current_exe();
    let status = child.and_then(|path| Command::new(path).arg(FAULT_ARGUMENT).status());
    status.is_ok_and(|status| status.success())
}

/// Makes a kernel fail: later calls report it, and nothing works in this context any more.
fn kernel_fault(lesson: &mut Lesson, context: &Context) -> Result<()> {
    let write_to_null = context.load_ptx(FAULT)?.function("write_to_null")?;
    let stream = context.create_stream()?;
    let kind = ErrorKind::KernelFault;
    // SAFETY: it is not: the kernel writes to address 0. All that it can harm is the context, which is not used again.
    unsafe { write_to_null.launch(&stream, LaunchConfig::new(1, 1), ()) }?;
    let result = stream.synchronize();
    lesson.show(
        "the wait after a write to address 0",
        result,
        kind,
        "memory",
    );

    let result = stream.zeroed::<u32>(4);
    lesson.show("an allocation after that", result, kind, "allocate");
    lesson.check(
        context.is_poisoned(),
        "the context does not know that it is lost",
    );
    Ok(())
}
