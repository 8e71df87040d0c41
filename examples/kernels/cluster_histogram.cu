// nvcc: -arch=sm_90

// Counts how often each value below `bins` occurs. The counters lie spread over the shared memory of all blocks of a
// cluster, so there can be more of them than one block has room for; each block adds to the counters of all.
extern "C" __global__ void cluster_histogram(const unsigned int *values, unsigned int n, unsigned int *counts, unsigned int bins)
{
    extern __shared__ unsigned int own[];
    unsigned int blocks = __clusterSizeInBlocks();
    unsigned int share = (bins + blocks - 1) / blocks;
    for (unsigned int bin = threadIdx.x; bin < share; bin += blockDim.x)
        own[bin] = 0;
    // No block adds before all counters are zero.
    __cluster_barrier_arrive();
    __cluster_barrier_wait();

    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned int value = values[i];
        if (value < bins) {
            void *theirs = __cluster_map_shared_rank(own, value / share);
            atomicAdd(static_cast<unsigned int *>(theirs) + value % share, 1);
        }
    }
    // No block reads its counters, or ends, before all have added.
    __cluster_barrier_arrive();
    __cluster_barrier_wait();

    unsigned int first = __clusterRelativeBlockRank() * share;
    for (unsigned int bin = threadIdx.x; bin < share && first + bin < bins; bin += blockDim.x)
        if (own[bin] != 0)
            atomicAdd(&counts[first + bin], own[bin]);
}
