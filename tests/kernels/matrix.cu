// nvcc: -arch=sm_80
// Matrix products on tensor cores: by hand, through the instructions of PTX, and through the fragments of `mma.h`.

#include <cuda_fp16.h>
#include <mma.h>

// Edges of the part of the result that a block computes, and how far it goes at once along the sums.
constexpr int TILE_M = 64;
constexpr int TILE_N = 64;
constexpr int TILE_K = 32;
// Elements behind each line in shared memory, so that rows do not fall on the same banks.
constexpr int PAD = 8;

__device__ unsigned int shared_address(const void *pointer)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

// Four matrices of eight rows: each lane gives the address of one row.
__device__ void load_rows(unsigned int (&out)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void load_columns(unsigned int (&out)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void multiply(float (&sums)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// `c = a b` for matrices by rows whose edges are multiples of the tile's. Four warps, each with a quarter of the tile.
extern "C" __global__ void __launch_bounds__(128) product_of_halves(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half a_tile[TILE_M][TILE_K + PAD];
    __shared__ __align__(16) half b_tile[TILE_K][TILE_N + PAD];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int first_row = warp / 2 * 32;
    int first_column = warp % 2 * 32;
    a += blockIdx.y * TILE_M * k;
    b += blockIdx.x * TILE_N;
    float sums[2][4][4] = {};
    for (int start = 0; start < k; start += TILE_K) {
        for (int at = threadIdx.x * 8; at < TILE_M * TILE_K; at += blockDim.x * 8) {
            int row = at / TILE_K, column = at % TILE_K;
            *reinterpret_cast<uint4 *>(&a_tile[row][column]) = *reinterpret_cast<const uint4 *>(&a[row * k + start + column]);
        }
        for (int at = threadIdx.x * 8; at < TILE_K * TILE_N; at += blockDim.x * 8) {
            int row = at / TILE_N, column = at % TILE_N;
            *reinterpret_cast<uint4 *>(&b_tile[row][column]) = *reinterpret_cast<const uint4 *>(&b[(start + row) * n + column]);
        }
        __syncthreads();
        for (int step = 0; step < TILE_K; step += 16) {
            unsigned int left[2][4], right[2][4];
            for (int i = 0; i < 2; i++)
                load_rows(left[i], &a_tile[first_row + i * 16 + lane % 16][step + lane / 16 * 8]);
            for (int j = 0; j < 2; j++)
                load_columns(right[j], &b_tile[step + lane % 16][first_column + j * 16 + lane / 16 * 8]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    multiply(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int half_of_rows = 0; half_of_rows < 2; half_of_rows++) {
                int row = blockIdx.y * TILE_M + first_row + i * 16 + half_of_rows * 8 + lane / 4;
                int column = blockIdx.x * TILE_N + first_column + j * 8 + lane % 4 * 2;
                float2 pair = make_float2(sums[i][j][half_of_rows * 2], sums[i][j][half_of_rows * 2 + 1]);
                *reinterpret_cast<float2 *>(&c[row * n + column]) = pair;
            }
}

// The same with fragments, one warp for each 16 by 16 results. `b` lies by columns.
extern "C" __global__ void product_of_fragments(const half *a, const half *b, float *c, int n, int k)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sums;
    fill_fragment(sums, 0.0f);
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int start = 0; start < k; start += 16) {
        load_matrix_sync(left, a + row * k + start, k);
        load_matrix_sync(right, b + column * k + start, k);
        mma_sync(sums, left, right, sums);
    }
    for (int i = 0; i < sums.num_elements; i++)
        sums.x[i] *= 0.5f;
    store_matrix_sync(c + row * n + column, sums, n, mem_row_major);
}

// Bytes, whose sums are whole numbers.
extern "C" __global__ void product_of_bytes(const signed char *a, const signed char *b, int *c, int n, int k)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 32, 8, 16, signed char, col_major> left;
    fragment<matrix_b, 32, 8, 16, signed char, row_major> right;
    fragment<accumulator, 32, 8, 16, int> sums;
    fill_fragment(sums, 7);
    int row = blockIdx.y * 32, column = blockIdx.x * 8, m = gridDim.y * 32;
    for (int start = 0; start < k; start += 16) {
        load_matrix_sync(left, a + start * m + row, m);
        load_matrix_sync(right, b + start * n + column, n);
        mma_sync(sums, left, right, sums, true);
    }
    store_matrix_sync(c + column * m + row, sums, m, mem_col_major);
}

// Doubles: each sum of four products is rounded product by product.
extern "C" __global__ void product_of_doubles(const double *a, const double *b, double *c, int n, int k)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 4, double, row_major> left;
    fragment<matrix_b, 8, 8, 4, double, row_major> right;
    fragment<accumulator, 8, 8, 4, double> sums;
    fill_fragment(sums, 0.0);
    int row = blockIdx.y * 8, column = blockIdx.x * 8;
    for (int start = 0; start < k; start += 4) {
        load_matrix_sync(left, a + row * k + start, k);
        load_matrix_sync(right, b + start * n + column, n);
        mma_sync(sums, left, right, sums);
    }
    store_matrix_sync(c + row * n + column, sums, n, mem_row_major);
}

// The transpose of a matrix whose edges are multiples of 16, by one warp for each 16 by 16 elements.
extern "C" __global__ void transpose_halves(const half *from, half *to, int columns)
{
    __shared__ __align__(16) half tile[16][16];
    int lane = threadIdx.x;
    int row = blockIdx.y * 16 + lane / 2, column = blockIdx.x * 16 + lane % 2 * 8;
    *reinterpret_cast<uint4 *>(&tile[lane / 2][lane % 2 * 8]) = *reinterpret_cast<const uint4 *>(&from[row * columns + column]);
    __syncwarp();
    unsigned int parts[4];
    load_columns(parts, &tile[lane % 16][lane / 16 * 8]);
    int rows = gridDim.y * 16;
    for (int part = 0; part < 4; part++) {
        int to_row = blockIdx.x * 16 + part / 2 * 8 + lane / 4;
        int to_column = blockIdx.y * 16 + part % 2 * 8 + lane % 4 * 2;
        *reinterpret_cast<unsigned int *>(&to[to_row * rows + to_column]) = parts[part];
    }
}
