// One kernel for each family of operations; each writes all results of its inputs to `out`.

extern "C" __global__ void integers32(const int *a, const int *b, int *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    int *o = out + (unsigned long long)i * 16;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = __mulhi(x, y);
    o[4] = (int)__umulhi((unsigned int)x, (unsigned int)y);
    o[5] = y == 0 || (x == (int)0x80000000 && y == -1) ? 0 : x / y;
    o[6] = y == 0 || (x == (int)0x80000000 && y == -1) ? 0 : x % y;
    o[7] = y == 0 ? 0 : (int)((unsigned int)x / (unsigned int)y);
    o[8] = min(x, y);
    o[9] = max(x, y);
    o[10] = x << (y & 31);
    o[11] = x >> (y & 31);
    o[12] = (int)((unsigned int)x >> (y & 31));
    o[13] = (x & y) ^ (x | y);
    o[14] = __popc(x) + __clz(y) * 256;
    o[15] = (int)__brev((unsigned int)x);
}

extern "C" __global__ void integers64(const long long *a, const long long *b, long long *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i];
    long long *o = out + (unsigned long long)i * 8;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = __mul64hi(x, y);
    o[4] = y == 0 ? 0 : (long long)((unsigned long long)x / (unsigned long long)y);
    o[5] = min(x, y);
    o[6] = x >> (y & 63);
    o[7] = __popcll(x) + __clzll(y) * 256;
}

extern "C" __global__ void floats32(const float *a, const float *b, float *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    float *o = out + (unsigned long long)i * 12;
    o[0] = __fadd_rn(x, y);
    o[1] = __fadd_rn(x, -y);
    o[2] = __fmul_rn(x, y);
    o[3] = __fdiv_rn(x, y);
    o[4] = fmaf(x, y, 1.0f);
    o[5] = __fsqrt_rn(fabsf(x));
    o[6] = fminf(x, y);
    o[7] = fmaxf(x, y);
    o[8] = __fadd_rz(x, y);
    o[9] = __fadd_ru(x, y);
    o[10] = __fmul_rd(x, y);
    o[11] = __saturatef(x);
}

extern "C" __global__ void floats64(const double *a, const double *b, double *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    double *o = out + (unsigned long long)i * 8;
    o[0] = __dadd_rn(x, y);
    o[1] = __dmul_rn(x, y);
    o[2] = __ddiv_rn(x, y);
    o[3] = fma(x, y, 1.0);
    o[4] = __dsqrt_rn(fabs(x));
    o[5] = fmin(x, y);
    o[6] = __dadd_rz(x, y);
    o[7] = __dmul_ru(x, y);
}

extern "C" __global__ void conversions(const float *a, long long *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i];
    long long *o = out + (unsigned long long)i * 8;
    o[0] = __float2int_rz(x);
    o[1] = __float2int_rn(x);
    o[2] = __float2uint_rz(x);
    o[3] = __float2ll_rd(x);
    o[4] = (long long)__float2ull_ru(x);
    o[5] = __double_as_longlong((double)x);
    o[6] = (long long)(signed char)__float2int_rz(x);
    o[7] = __float_as_int(__int2float_rz(__float2int_rz(x)));
}
