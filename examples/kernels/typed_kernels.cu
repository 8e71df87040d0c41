// y[i] += a * x[i]
__global__ void axpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

// out[i] = value
template <typename T>
__global__ void fill(T *out, T value, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value;
}
template __global__ void fill<float>(float *, float, unsigned);
template __global__ void fill<unsigned>(unsigned *, unsigned, unsigned);

struct Window {
    float low, high;
};

// Brings every element into the window; counts those that were outside, if there is a counter.
__global__ void clamp(Window window, float *data, unsigned *outside, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = data[i];
    float y = fminf(fmaxf(x, window.low), window.high);
    data[i] = y;
    if (outside && x != y)
        atomicAdd(outside, 1);
}
