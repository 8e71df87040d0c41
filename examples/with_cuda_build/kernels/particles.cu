#include "index.h"

namespace physics {

struct Particle {
    float position[3];
    float mass;
    float velocity[3];
    float charge;
};

struct Step {
    float seconds;
    float gravity[3];
};

// A struct by value, and memory of structs.
__global__ void step(Particle *particles, unsigned n, Step step)
{
    unsigned i = thread_index();
    if (i >= n)
        return;
    Particle particle = particles[i];
    for (int axis = 0; axis < 3; ++axis) {
        particle.velocity[axis] += step.seconds * step.gravity[axis];
        particle.position[axis] += step.seconds * particle.velocity[axis];
    }
    particles[i] = particle;
}

} // namespace physics

// A template: its instances are kernels of their own.
template <class T> __global__ void scale(T *data, unsigned n, T by)
{
    unsigned i = thread_index();
    if (i < n)
        data[i] *= by;
}

template __global__ void scale<float>(float *, unsigned, float);
template __global__ void scale<double>(double *, unsigned, double);

// Nothing is vouched for: the caller promises that every index is below the length of `table`.
extern "C" __global__ void gather(const float *table, const unsigned *indices, float *out, unsigned n)
{
    unsigned i = thread_index();
    if (i < n)
        out[i] = table[indices[i]];
}
