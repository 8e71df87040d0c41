// For each pixel of an image, the number of steps after which its point has left the circle of radius 2, at most `limit`.
// The image's centre is the point (x, y); a pixel is `step` wide.
extern "C" __global__ void mandelbrot(unsigned int *image, unsigned int width, unsigned int height,
                                      float x, float y, float step, unsigned int limit)
{
    unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float cx = fmaf((float)column - 0.5f * (float)width, step, x);
    float cy = fmaf((float)row - 0.5f * (float)height, step, y);
    float zx = 0.0f, zy = 0.0f;
    unsigned int count = 0;
    while (count < limit && fmaf(zx, zx, zy * zy) <= 4.0f) {
        float next = fmaf(zx, zx, fmaf(-zy, zy, cx));
        zy = fmaf(2.0f * zx, zy, cy);
        zx = next;
        count++;
    }
    image[(unsigned long long)row * width + column] = count;
}
