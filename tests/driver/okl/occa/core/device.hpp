#include "../stand_in.hpp"
