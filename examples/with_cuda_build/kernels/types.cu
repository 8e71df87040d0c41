// Parameters of every kind, to see that all of them can be declared.
#include <cuda_fp16.h>

struct Unnamed {
    double values[50];
};

struct Odd {
    char bytes[3];
};

enum class Color : unsigned short { red, green };

// Numbers by value, one of each.
__global__ void numbers(double *out, bool a, char b, signed char c, unsigned char d, short e, unsigned short f, int g, unsigned h, long i,
                        unsigned long j, long long k, unsigned long long l, float m, double n, Color o)
{
    *out = a + b + c + d + e + f + g + h + i + j + k + l + m + n + static_cast<int>(o);
}

// Vectors, halves and structs that nobody gave a type of Rust.
__global__ void blocks(float *out, float4 wind, int2 size, uchar4 color, __half half, Unnamed all, Odd odd)
{
    *out = wind.w + size.y + color.z + __half2float(half) + float(all.values[49]) + odd.bytes[2];
}

// Memory of all of these.
__global__ void memory(const bool *flags, const char *text, const long *longs, const float4 *vectors, const __half *halves, const Odd *odd,
                       const void *raw, float *const *rows, unsigned *out)
{
    out[0] = flags[1] + text[1] + unsigned(longs[1]) + unsigned(vectors[1].y) + unsigned(__half2float(halves[1])) + odd[1].bytes[0];
    out[1] = static_cast<const unsigned *>(raw)[1] + unsigned(rows[0][1]);
}

// Names that mean something in Rust, or in what is generated.
__global__ void names(unsigned *self, unsigned stream, unsigned config, unsigned type, unsigned crate, unsigned kernels, unsigned len,
                      unsigned camelCase, unsigned)
{
    *self = stream + config + type + crate + kernels + len + camelCase;
}

// C linkage within a namespace: what PTX tells must do.
namespace hidden {
extern "C" __global__ void untold(unsigned *out, unsigned value) { *out = value; }
} // namespace hidden

__global__ void nothing() {}
