// A library with nothing in it.
int nothing_of_nvrtc;
