// Calls whose target or depth is known only when the kernel runs.

__device__ unsigned int fibonacci(unsigned int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// Each thread at its own depth.
extern "C" __global__ void recursion(unsigned int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

// Goes down as deep as it is told to, with variables of its own at each level.
__device__ __noinline__ unsigned int descend(unsigned int depth, const unsigned int *above)
{
    unsigned int here[16];
#pragma unroll 1
    for (unsigned int i = 0; i < 16; i++)
        here[i] = above[i] + depth;
    unsigned int below = depth == 0 ? 0 : descend(depth - 1, here);
    return below + here[depth % 16];
}

extern "C" __global__ void depth(unsigned int levels, unsigned int *out)
{
    unsigned int start[16];
#pragma unroll 1
    for (unsigned int i = 0; i < 16; i++)
        start[i] = threadIdx.x + i;
    out[threadIdx.x] = descend(levels, start);
}

typedef unsigned int (*Operation)(unsigned int, unsigned int);

__device__ __noinline__ unsigned int add(unsigned int a, unsigned int b) { return a + b; }
__device__ __noinline__ unsigned int multiply(unsigned int a, unsigned int b) { return a * b; }
__device__ __noinline__ unsigned int exclusive(unsigned int a, unsigned int b) { return a ^ b; }

__device__ Operation operations[3] = {add, multiply, exclusive};
__constant__ Operation constant_operations[3] = {exclusive, add, multiply};

// Neighbouring threads call different functions.
extern "C" __global__ void table(unsigned int *out)
{
    unsigned int i = threadIdx.x;
    unsigned int first = operations[i % 3](i, 7);
    out[i] = constant_operations[i / 3 % 3](first, 1000);
}

// Writes the addresses of functions, for a launch that calls them.
extern "C" __global__ void addresses(unsigned long long *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = (unsigned long long)operations[i];
}

extern "C" __global__ void call_address(const unsigned long long *address, unsigned int *out)
{
    out[threadIdx.x] = ((Operation)*address)(threadIdx.x, 5);
}

struct Shape {
    unsigned int side;
    __device__ Shape(unsigned int side) : side(side) {}
    __device__ virtual unsigned int area() const { return 0; }
    __device__ virtual unsigned int corners() const { return 0; }
};

struct Square : Shape {
    __device__ Square(unsigned int side) : Shape(side) {}
    __device__ unsigned int area() const override { return side * side; }
    __device__ unsigned int corners() const override { return 4; }
};

struct Cube : Square {
    __device__ Cube(unsigned int side) : Square(side) {}
    __device__ unsigned int area() const override { return 6 * Square::area(); }
    __device__ unsigned int corners() const override { return 8; }
};

__device__ __noinline__ unsigned int measure(const Shape *shape)
{
    return shape->area() * 10 + shape->corners();
}

extern "C" __global__ void shapes(unsigned int *out)
{
    Shape shape(threadIdx.x);
    Square square(threadIdx.x);
    Cube cube(threadIdx.x);
    const Shape *all[3] = {&shape, &square, &cube};
    out[threadIdx.x] = measure(all[threadIdx.x % 3]);
}

// An array whose length only the launch knows.
extern "C" __global__ void variable_array(unsigned int n, unsigned int *out)
{
    unsigned int length = n + threadIdx.x % 4;
    unsigned char *bytes = (unsigned char *)__builtin_alloca(length);
#pragma unroll 1
    for (unsigned int i = 0; i < length; i++)
        bytes[i] = (unsigned char)(i * 3 + threadIdx.x);
    unsigned int sum = 0;
#pragma unroll 1
    for (unsigned int i = 0; i < length; i++)
        sum += bytes[i * 7 % length];
    out[threadIdx.x] = sum;
}
