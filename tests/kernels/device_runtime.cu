// What the device's own runtime does: printing, assertions, memory from the kernel's heap.

#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(float factor)
{
    int t = (int)threadIdx.x;
    int returned = printf("thread %2d of %u|%-6s|%7.3f|%#llx|%c|%e|%%\n", t, blockDim.x, t & 1 ? "odd" : "even", factor * t,
                          (long long)t << 36, 'a' + t, 1e10 * t);
    if (t == 0)
        printf("returned %d\n", returned);
}

extern "C" __global__ void below(unsigned int limit)
{
    assert(threadIdx.x < limit);
}

// Each thread allocates a piece and leaves its address.
extern "C" __global__ void take(unsigned int **pieces, unsigned int words)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int *piece = (unsigned int *)malloc(words * sizeof(unsigned int));
    pieces[i] = piece;
    if (piece == 0)
        return;
#pragma unroll 1
    for (unsigned int k = 0; k < words; k++)
        piece[k] = i * 100 + k;
}

// Another launch finds the pieces, sums and releases them.
extern "C" __global__ void give_back(unsigned int **pieces, unsigned int words, unsigned int *sums)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int sum = 0;
#pragma unroll 1
    for (unsigned int k = 0; k < words; k++)
        sum += pieces[i][k];
    sums[i] = sum;
    free(pieces[i]);
}

// How many pieces of that size there are, up to a hundred; all are released again.
extern "C" __global__ void count_pieces(unsigned long long size, unsigned int *count)
{
    void *pieces[100];
    unsigned int got = 0;
#pragma unroll 1
    while (got < 100 && (pieces[got] = malloc(size)) != 0)
        got++;
#pragma unroll 1
    for (unsigned int i = 0; i < got; i++)
        free(pieces[i]);
    free(0);
    *count = got;
}
