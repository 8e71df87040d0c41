//! Teaches building on top: an operation on each element, written as a line of CUDA C++ and compiled at run time, over
//! arrays of any length, as CuPy's `ElementwiseKernel` has it.

use std::error::Error;
use std::marker::PhantomData;

use cuda_driver::Stream;
use cuda_driver::{Context, DeviceAllocation, Driver, DynamicArgument, Function, LaunchConfig};
use cuda_nvrtc::{CompileCu, ErrorKind};

/// What arrays hold, and what CUDA C++ calls it.
trait Element: bytemuck::Pod {
    const NAME: &'static str;
}

macro_rules! elements {
    ($($type:ty: $name:literal),*) => {
        $(impl Element for $type { const NAME: &'static str = $name; })*
    };
}
elements!(f32: "float", f64: "double", i32: "int", u32: "unsigned int", u8: "unsigned char");

/// An operation that makes one array of others, element by element.
struct Elementwise<Out> {
    function: Function,
    inputs: Vec<(String, bool)>,
    most_blocks: u32,
    output: PhantomData<fn() -> Out>,
}

/// What stands for one input: its type, its length if it is an array, and what the kernel gets.
struct Input<'a>(&'static str, Option<usize>, DynamicArgument<'a>);

impl<'a, T: Element> From<&'a DeviceAllocation<T>> for Input<'a> {
    fn from(array: &'a DeviceAllocation<T>) -> Self {
        Self(T::NAME, Some(array.len()), DynamicArgument::read(array))
    }
}

impl<'a, T: Element> From<&'a T> for Input<'a> {
    fn from(number: &'a T) -> Self {
        Self(T::NAME, None, DynamicArgument::value(number))
    }
}

impl<Out: Element> Elementwise<Out> {
    /// Compiles an operation from its inputs, such as `float a, const float *x` (`x` is an array), the name of the output,
    /// and a statement in which the names stand for the elements.
    ///
    /// # Safety
    /// The statement is C++ that touches nothing but the names, and gives the output a value.
    unsafe fn compile(
        context: &Context,
        inputs: &str,
        output: &str,
        statement: &str,
    ) -> cuda_nvrtc::Result<Self> {
        let (mut names, mut parameters, mut loads) = (Vec::new(), String::new(), String::new());
        for input in inputs.split(',') {
            let (head, is_array) = (input.replace('*', " "), input.contains('*'));
            let (kind, name) = head.trim().rsplit_once(' ').unwrap_or(("", head.trim()));
            let kind = kind.trim_start_matches("const ").trim();
            if is_array {
                parameters += &format!("const {kind} *{name}_array, ");
                loads += &format!("const {kind} {name} = {name}_array[i];\n");
            } else {
                parameters += &format!("const {kind} {name}, ");
            }
            names.push((kind.to_string(), is_array));
        }
        let out = Out::NAME;
        let source = format!(
            "extern \"C\" __global__ void elementwise({parameters}{out} *{output}_array, size_t n)
             {{
                 for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
                 {{
                     {loads} {out} {output};
                     {statement};
                     {output}_array[i] = {output};
                 }}
             }}"
        );
        let function = context.compile_cu(source)?.function("elementwise")?;
        let processors = context.device().multiprocessor_count()?;
        Ok(Self {
            most_blocks: 8 * processors,
            inputs: names,
            function,
            output: PhantomData,
        })
    }

    /// Applies the operation to all elements. At least one input is an array, and all arrays are as long as the first.
    fn call<const N: usize>(
        &self,
        stream: &Stream,
        inputs: [Input<'_>; N],
    ) -> Result<DeviceAllocation<Out>, Box<dyn Error>> {
        let given = inputs
            .iter()
            .map(|Input(kind, len, _)| (*kind, len.is_some()));
        let taken = self
            .inputs
            .iter()
            .map(|(kind, is_array)| (kind.as_str(), *is_array));
        if !given.eq(taken) {
            return Err(format!("the inputs are not {:?}", self.inputs).into());
        }
        let lengths: Vec<usize> = inputs.iter().filter_map(|input| input.1).collect();
        let Some(&n) = lengths
            .first()
            .filter(|&n| lengths.iter().all(|len| len == n))
        else {
            return Err(format!("the arrays have lengths of {lengths:?}").into());
        };
        let mut output = stream.zeroed::<Out>(n)?;
        let length = n as u64;
        let mut arguments: Vec<_> = inputs.into_iter().map(|input| input.2).collect();
        arguments.push(DynamicArgument::write(&mut output));
        arguments.push(DynamicArgument::value(&length));
        let wanted = LaunchConfig::for_len(n);
        let config = LaunchConfig::new(wanted.grid.x.min(self.most_blocks), wanted.block);
        // SAFETY: the kernel touches each array at indices below `n`, and types and lengths were compared.
        unsafe { self.function.launch_dynamic(stream, config, &arguments) }?;
        Ok(output)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);

    let inputs = "float a, const float *x, const int *k";
    // SAFETY: the statement touches nothing but the names, and gives `y` a value.
    let compiled =
        unsafe { Elementwise::<f64>::compile(&context, inputs, "y", "y = a * x + k % 7") };
    let operation = match compiled {
        Err(error) if error.kind() == ErrorKind::LibraryNotFound => {
            println!("{error}");
            return Ok(());
        }
        compiled => compiled?,
    };

    let stream = context.create_stream()?;
    for n in [0, 1, 1_000, 1_000_003] {
        let (x, k): (Vec<f32>, Vec<i32>) = (0..n).map(|i| (i as f32, i)).unzip();
        let (device_x, device_k) = (stream.upload(&x)?, stream.upload(&k)?);
        let y = operation.call(
            &stream,
            [(&0.5_f32).into(), (&device_x).into(), (&device_k).into()],
        )?;
        let y = y.to_vec()?;
        assert!((0..x.len()).all(|i| y[i] == f64::from(0.5 * x[i] + (k[i] % 7) as f32)));
        println!("{} elements of a·x + k mod 7 are right", y.len());
    }
    let wrong = operation.call(
        &stream,
        [(&0.5_f32).into(), (&1.0_f32).into(), (&1_i32).into()],
    );
    println!(
        "and numbers for arrays: {}",
        wrong
            .err()
            .map_or_else(String::new, |error| error.to_string())
    );
    Ok(())
}
