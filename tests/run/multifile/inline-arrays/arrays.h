#pragma once
inline int odd[3] = {1, 2, 3};
inline struct Table {
  int v[64];
} table = {{1}};
template <class T> struct Buffer {
  static T data[256];
};
template <class T> T Buffer<T>::data[256];
int *elsewhere();
