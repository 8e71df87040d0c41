use cuda_driver::Driver;

fn main() {
    let context = Driver::simulated().unwrap().device(0).unwrap().primary_context().unwrap();
    let stream = context.create_stream().unwrap();
    let memory = stream.zeroed::<()>(10).unwrap();
    println!("{}", memory.len());
}
