// Parameters of every size, and structs by value.

struct vector4 {
    float x, y, z, w;
};

struct __align__(16) aligned4 {
    float x, y, z, w;
};

struct mixed {
    unsigned char tag;
    double value;
    unsigned short code;
};

extern "C" __global__ void scalars(unsigned char a, unsigned short b, unsigned long long c, float d,
                                   signed char e, double f, short g, int h, unsigned long long *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = __float_as_uint(d);
    out[4] = (unsigned long long)(long long)e;
    out[5] = (unsigned long long)__double_as_longlong(f);
    out[6] = (unsigned long long)(long long)g;
    out[7] = (unsigned long long)(long long)h;
}

extern "C" __global__ void structs(struct vector4 a, unsigned char gap, struct aligned4 b, struct mixed c, double *out)
{
    out[0] = a.x + a.y * 10.0f + a.z * 100.0f + a.w * 1000.0f;
    out[1] = gap;
    out[2] = b.x + b.y * 10.0f + b.z * 100.0f + b.w * 1000.0f;
    out[3] = c.tag;
    out[4] = c.value;
    out[5] = c.code;
}
