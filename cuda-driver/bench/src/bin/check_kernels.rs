//! Times the comparison of a thousand declared kernels with their module, on a driver that answers at once: of kernels whose mangled names
//! tell the types, and of kernels with C linkage, whose PTX is read to see what they do.

use std::time::{Duration, Instant};

use cuda_driver::Result;
use cuda_driver::kernels::__private::{Access, Kernel, Origin, Parameter, resolve};
use cuda_driver::kernels::KernelType;
use cuda_driver_bench::idle_driver;

const KERNELS: usize = 1000;
const ROUNDS: usize = 51;

fn main() -> Result<()> {
    let context = idle_driver()?.device(0)?.primary_context()?;
    type Name = fn(usize) -> String;
    let named: [(&str, Name); 2] = [("mangled names", mangled), ("C linkage", plain)];
    for (title, name) in named {
        let mut text = String::from(".version 7.0\n.target sm_52\n.address_size 64\n");
        text.extend((0..KERNELS).map(|index| BODY.replace("NAME", &name(index))));
        let module = context.load_ptx(&text)?;
        let declared = std::array::from_fn(|index| kernel(name(index)));
        let declared: &[Kernel; KERNELS] = Box::leak(Box::new(declared));
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            // SAFETY: the kernels touch no global variables.
            let functions = unsafe { resolve("Kernels", &module, declared, Origin::Elsewhere) }?;
            times.push(start.elapsed());
            drop(functions);
        }
        times.sort();
        println!(
            "{KERNELS} kernels of 4 parameters, {title}, {} kB of PTX: {:.2?} at least, {:.2?} the median of {ROUNDS}",
            text.len() / 1000,
            times[0],
            times[ROUNDS / 2]
        );
    }
    Ok(())
}

/// A kernel that adds vectors.
const BODY: &str = "
.visible .entry NAME(.param .u64 NAME_param_0, .param .u64 NAME_param_1, .param .u64 NAME_param_2, .param .u32 NAME_param_3)
{
\t.reg .pred \t%p<2>;
\t.reg .f32 \t%f<4>;
\t.reg .b32 \t%r<6>;
\t.reg .b64 \t%rd<11>;
\tld.param.u64 \t%rd1, [NAME_param_0];
\tld.param.u64 \t%rd2, [NAME_param_1];
\tld.param.u64 \t%rd3, [NAME_param_2];
\tld.param.u32 \t%r2, [NAME_param_3];
\tmov.u32 \t%r3, %ctaid.x;
\tmov.u32 \t%r4, %ntid.x;
\tmov.u32 \t%r5, %tid.x;
\tmad.lo.s32 \t%r1, %r3, %r4, %r5;
\tsetp.ge.u32 \t%p1, %r1, %r2;
\t@%p1 bra \t$L__BB0_2;
\tcvta.to.global.u64 \t%rd4, %rd1;
\tmul.wide.u32 \t%rd5, %r1, 4;
\tadd.s64 \t%rd6, %rd4, %rd5;
\tcvta.to.global.u64 \t%rd7, %rd2;
\tadd.s64 \t%rd8, %rd7, %rd5;
\tld.global.f32 \t%f1, [%rd8];
\tld.global.f32 \t%f2, [%rd6];
\tadd.f32 \t%f3, %f2, %f1;
\tcvta.to.global.u64 \t%rd9, %rd3;
\tadd.s64 \t%rd10, %rd9, %rd5;
\tst.global.f32 \t[%rd10], %f3;
$L__BB0_2:
\tret;
}
";

fn plain(index: usize) -> String {
    format!("kernel_{index}")
}

/// `module::kernel_7(float const*, float const*, float*, unsigned int)` in a namespace.
fn mangled(index: usize) -> String {
    let name = plain(index);
    format!("_ZN6module{}{name}EPKfS1_Pfj", name.len())
}

fn kernel(symbol: String) -> Kernel {
    let parameter = |access| Parameter {
        name: "parameter",
        text: "&[f32]",
        access,
        size: 4,
        element: f32::TYPE,
    };
    let number = Parameter {
        element: u32::TYPE,
        ..parameter(Access::Value)
    };
    let parameters = vec![
        parameter(Access::Read),
        parameter(Access::Read),
        parameter(Access::Write),
        number,
    ];
    Kernel {
        method: "kernel",
        name: symbol.leak(),
        symbol: None,
        parameters: parameters.leak(),
        most_threads: Some(256),
        shared_bytes: None,
        globals: Some(&[]),
        waits: false,
    }
}
