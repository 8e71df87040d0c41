// A local array with indices that are known only at run time: the k largest values of each thread's row, sorted downwards.
#define KEPT 8

extern "C" __global__ void largest(const int *values, unsigned int columns, int *out, unsigned int rows)
{
    unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int kept[KEPT];
    for (unsigned int i = 0; i < KEPT; i++)
        kept[i] = (int)0x80000000;
    for (unsigned int column = 0; column < columns; column++) {
        int value = values[(unsigned long long)row * columns + column];
        unsigned int place = 0;
        while (place < KEPT && kept[place] >= value)
            place++;
        for (unsigned int i = KEPT - 1; i > place; i--)
            kept[i] = kept[i - 1];
        if (place < KEPT)
            kept[place] = value;
    }
    for (unsigned int i = 0; i < KEPT; i++)
        out[(unsigned long long)row * KEPT + i] = kept[i];
}
