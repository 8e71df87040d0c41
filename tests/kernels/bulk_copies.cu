// nvcc: -arch=sm_90
// Copies that the hardware makes beside the threads: between global and shared memory, and between the blocks of a cluster. Barriers in
// memory count the bytes that arrive.

typedef unsigned long long Barrier;

__device__ unsigned int shared_address(const void *variable)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(variable));
}

// The barrier's phases end with so many arrivals, and the bytes that these expect.
__device__ void init(Barrier *barrier, unsigned int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void arrive_expecting(Barrier *barrier, unsigned int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Waits for the end of the phase of that parity; the first one is even.
__device__ void wait_for(Barrier *barrier, unsigned int parity)
{
    asm volatile(
        "{ .reg .pred over;\n"
        "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
        "@!over bra AGAIN; }" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

__device__ void copy_in(void *to, const void *from, unsigned int bytes, Barrier *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

__device__ void copy_out(void *to, const void *from, unsigned int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// What threads wrote to shared memory, copies see from here on.
__device__ void show_to_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void wait_until_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__device__ void cluster_sync()
{
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

// Adds to each number, tile by tile: two tiles are on their way while a third is worked on.
extern "C" __global__ void add_by_tiles(int *numbers, int value, int tiles)
{
    const int stages = 3, size = 128;
    __shared__ alignas(16) int tile[stages][size];
    __shared__ Barrier full[stages];
    int first = blockIdx.x * tiles;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage)
            init(&full[stage], 1);
        for (int i = 0; i < stages - 1 && i < tiles; ++i) {
            arrive_expecting(&full[i], sizeof tile[i]);
            copy_in(tile[i], numbers + (first + i) * size, sizeof tile[i], &full[i]);
        }
    }
    __syncthreads();
    for (int i = 0; i < tiles; ++i) {
        int stage = i % stages;
        wait_for(&full[stage], i / stages & 1);
        tile[stage][threadIdx.x] += value;
        show_to_copies();
        __syncthreads();
        if (threadIdx.x == 0) {
            // The tile that comes next was read from here before.
            wait_until_read();
            copy_out(numbers + (first + i) * size, tile[stage], sizeof tile[stage]);
            int next = i + stages - 1;
            if (next < tiles) {
                arrive_expecting(&full[next % stages], sizeof tile[0]);
                copy_in(tile[next % stages], numbers + (first + next) * size, sizeof tile[0], &full[next % stages]);
            }
        }
    }
    if (threadIdx.x == 0)
        wait_until_read();
}

// Adds the rows of a matrix of 64 columns to `sums`, by the memory itself: each block adds one row.
extern "C" __global__ void add_rows(const unsigned int *rows, unsigned int *sums)
{
    __shared__ alignas(16) unsigned int row[64];
    row[threadIdx.x] = rows[blockIdx.x * 64 + threadIdx.x];
    show_to_copies();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sums), "r"(shared_address(row)), "n"(256)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// The first block of each cluster sends 64 numbers to all of its blocks, which leave them, plus their number in the cluster.
extern "C" __global__ void send_to_all(const unsigned int *numbers, unsigned int *out)
{
    __shared__ alignas(16) unsigned int received[64];
    __shared__ Barrier arrived;
    if (threadIdx.x == 0) {
        init(&arrived, 1);
        arrive_expecting(&arrived, sizeof received);
    }
    cluster_sync();
    unsigned int rank = __clusterRelativeBlockRank(), blocks = __clusterSizeInBlocks();
    if (rank == 0 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                shared_address(received)),
            "l"(numbers), "n"(256), "r"(shared_address(&arrived)), "h"(static_cast<unsigned short>((1u << blocks) - 1))
            : "memory");
    wait_for(&arrived, 0);
    out[blockIdx.x * 64 + threadIdx.x] = received[threadIdx.x] + rank;
    cluster_sync();
}

// Each thread stores a pair of numbers in the next block of its cluster, and adds to a sum there; each block leaves what it received.
extern "C" __global__ void send_to_next(uint2 *out, unsigned int *sums)
{
    __shared__ alignas(16) uint2 received[64];
    __shared__ unsigned int sum;
    __shared__ Barrier arrived;
    if (threadIdx.x == 0) {
        sum = 0;
        init(&arrived, 1);
        arrive_expecting(&arrived, sizeof received + 64 * sizeof sum);
    }
    cluster_sync();
    unsigned int rank = __clusterRelativeBlockRank(), next = (rank + 1) % __clusterSizeInBlocks();
    unsigned int to, total, barrier;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&received[threadIdx.x])), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(total) : "r"(shared_address(&sum)), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&arrived)), "r"(next));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" ::"r"(to), "r"(rank), "r"(threadIdx.x),
                 "r"(barrier)
                 : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(total),
                 "r"(threadIdx.x + rank), "r"(barrier)
                 : "memory");
    wait_for(&arrived, 0);
    out[blockIdx.x * 64 + threadIdx.x] = received[threadIdx.x];
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    cluster_sync();
}

// Wrong: reads the tile without waiting for it.
extern "C" __global__ void read_too_early(const int *numbers, int *out)
{
    __shared__ alignas(16) int tile[64];
    __shared__ Barrier full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, sizeof tile);
        copy_in(tile, numbers, sizeof tile, &full);
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
    wait_for(&full, 0);
}

// Wrong: expects more bytes than are copied.
extern "C" __global__ void expect_too_much(const int *numbers, int *out)
{
    __shared__ alignas(16) int tile[64];
    __shared__ Barrier full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, sizeof tile + 16);
        copy_in(tile, numbers, sizeof tile, &full);
    }
    __syncthreads();
    wait_for(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}
