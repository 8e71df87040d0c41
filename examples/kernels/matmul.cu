// c = a * b for row-major matrices: a is m by k, b is k by n, c is m by n. Blocks of 16 by 16 threads.
#define TILE 16

extern "C" __global__ void matmul(const float *a, const float *b, float *c,
                                  unsigned int m, unsigned int n, unsigned int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned int column = blockIdx.x * TILE + threadIdx.x;
    unsigned int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (unsigned int start = 0; start < k; start += TILE) {
        unsigned int ka = start + threadIdx.x;
        unsigned int kb = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[(unsigned long long)row * k + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[(unsigned long long)kb * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned int i = 0; i < TILE; i++)
            sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && column < n)
        c[(unsigned long long)row * n + column] = sum;
}
