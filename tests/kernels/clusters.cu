// nvcc: -arch=sm_90
// Blocks of a cluster that work together: a barrier for all of them, and shared memory that each of them reaches.

// A barrier for all blocks of the cluster.
__device__ void cluster_sync()
{
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

// Where the same variable of another block of the cluster is.
template <typename T> __device__ T *of_block(T *variable, unsigned int rank)
{
    return static_cast<T *>(__cluster_map_shared_rank(variable, rank));
}

// Each cluster leaves the sum of its part of `values` in `sums`: warps, then blocks, then the cluster.
extern "C" __global__ void cluster_sum(const float *values, float *sums, unsigned int n)
{
    __shared__ float of_warps[32];
    __shared__ float of_this;
    float sum = 0.0f;
    unsigned int blocks = __clusterSizeInBlocks();
    unsigned int part = blockIdx.x / blocks;
    unsigned int parts = gridDim.x / blocks;
    unsigned int first = __clusterRelativeBlockRank() * blockDim.x + threadIdx.x;
    for (unsigned int i = part * blocks * blockDim.x + first; i < n; i += parts * blocks * blockDim.x)
        sum += values[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned int warp = 0; warp < blockDim.x / 32; warp++)
            total += of_warps[warp];
        of_this = total;
    }
    cluster_sync();
    if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned int block = 0; block < blocks; block++)
            total += *of_block(&of_this, block);
        sums[part] = total;
    }
    // Nobody leaves while its memory is read.
    cluster_sync();
}

// Counts how often each value occurs. The bins are spread over the blocks of the cluster; there are as many in all as dynamic shared
// memory has room for.
extern "C" __global__ void cluster_histogram(const unsigned int *values, unsigned int *counts, unsigned int n, unsigned int bins)
{
    extern __shared__ unsigned int own[];
    unsigned int share = bins / __clusterSizeInBlocks();
    for (unsigned int bin = threadIdx.x; bin < share; bin += blockDim.x)
        own[bin] = 0;
    cluster_sync();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned int bin = values[i] % bins;
        atomicAdd(of_block(own, bin / share) + bin % share, 1);
    }
    cluster_sync();
    for (unsigned int bin = threadIdx.x; bin < share; bin += blockDim.x)
        atomicAdd(&counts[__clusterRelativeBlockRank() * share + bin], own[bin]);
}

// Passes each block's numbers on to the next block of its cluster, `rounds` times; arriving and waiting are apart.
extern "C" __global__ void cluster_ring(unsigned int *values, unsigned int rounds)
{
    __shared__ unsigned int cells[2][64];
    unsigned int next = (__clusterRelativeBlockRank() + 1) % __clusterSizeInBlocks();
    unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int value = values[at];
    // All blocks have begun before one writes to another.
    cluster_sync();
    for (unsigned int round = 0; round < rounds; round++) {
        unsigned int *mine = &cells[round % 2][threadIdx.x];
        *of_block(mine, next) = value + 1;
        __cluster_barrier_arrive();
        unsigned int odd = round * 3;
        __cluster_barrier_wait();
        value = *mine + odd;
    }
    values[at] = value;
}

// What each block knows of its place: rank, blocks of the cluster, and the cluster's coordinates.
extern "C" __global__ void cluster_places(unsigned int *places)
{
    dim3 index = __clusterRelativeBlockIdx();
    unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned int clusters_x, cluster_x, explicitly;
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters_x));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster_x));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(explicitly));
    if (threadIdx.x == 0) {
        unsigned int *place = places + 8 * block;
        place[0] = __clusterRelativeBlockRank();
        place[1] = __clusterSizeInBlocks();
        place[2] = index.x;
        place[3] = index.y;
        place[4] = index.z;
        place[5] = cluster_x;
        place[6] = clusters_x;
        place[7] = explicitly;
    }
}

// The kernel says itself how large its clusters are.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_pair(unsigned int *values)
{
    __shared__ unsigned int cell;
    if (threadIdx.x == 0)
        cell = blockIdx.x;
    cluster_sync();
    if (threadIdx.x == 0)
        values[blockIdx.x] = *of_block(&cell, __clusterRelativeBlockRank() ^ 1);
    cluster_sync();
}

// A mistake: a block reads the memory of another one, which does not wait for it and ends.
extern "C" __global__ void cluster_too_late(unsigned int *values, unsigned int steps)
{
    __shared__ unsigned int cell;
    cell = 7;
    cluster_sync();
    if (__clusterRelativeBlockRank() == 0) {
        volatile unsigned int step = 0;
        while (step < steps)
            step = step + 1;
        values[0] = *of_block(&cell, 1);
    }
}
