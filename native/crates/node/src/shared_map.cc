// SPDX-License-Identifier: MIT OR Apache-2.0
// Maps native memory as a SharedArrayBuffer, and keeps the memory of an ArrayBuffer alive while native code uses it. Only newer versions
// of Node-API can map native memory (`node_api_create_external_sharedarraybuffer`). No version can keep an ArrayBuffer's memory alive.
//
// This file uses V8's own functions, which Node exports. It declares them itself instead of including <v8.h>, because many
// installations of Node lack the headers. Each declaration is weak. So the addon also loads if V8 lacks a function or has changed
// its parameters. `shared.rs` uses this file only with the tested versions of Node.
// The decision: spec/decisions/native-memory-is-mapped-as-shared-where-node-can.md
#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <utility>

#define FROM_NODE __attribute__((weak, visibility("default")))

namespace v8 {
class Isolate {
 public:
  FROM_NODE static Isolate* GetCurrent();
};

// V8's handle of a value. It contains the address of a slot, and so does a napi_value.
template <class T>
class Local {
 public:
  T* slot;
};

class BackingStore {
 public:
  FROM_NODE ~BackingStore();
  FROM_NODE bool IsResizableByUserJavaScript() const;
};

class ArrayBuffer {
 public:
  FROM_NODE std::shared_ptr<BackingStore> GetBackingStore();
};

class SharedArrayBuffer {
 public:
  FROM_NODE std::shared_ptr<BackingStore> GetBackingStore();
  FROM_NODE static std::unique_ptr<BackingStore> NewBackingStore(void*, std::size_t, void (*)(void*, std::size_t, void*),
                                                                 void*);
  FROM_NODE static Local<SharedArrayBuffer> New(Isolate*, std::shared_ptr<BackingStore>);
};
}  // namespace v8

extern "C" {

// Returns what this V8 supports. Bit 0: native memory can be mapped as a SharedArrayBuffer. Bit 1: an ArrayBuffer's memory can be
// kept. Looks the functions up by name: a compiler assumes that a member function always has an address, so comparing the address
// with null would not work.
int clearway_shared_map_can(void) {
  const auto has = [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; };
  const bool store = has("_ZN2v812BackingStoreD1Ev");
  const bool map = store && has("_ZN2v87Isolate10GetCurrentEv") &&
                   has("_ZN2v817SharedArrayBuffer15NewBackingStoreEPvmPFvS1_mS1_ES1_") &&
                   has("_ZN2v817SharedArrayBuffer3NewEPNS_7IsolateESt10shared_ptrINS_12BackingStoreEE");
  const bool keep = store && has("_ZN2v811ArrayBuffer15GetBackingStoreEv") &&
                    has("_ZN2v817SharedArrayBuffer15GetBackingStoreEv") &&
                    has("_ZNK2v812BackingStore27IsResizableByUserJavaScriptEv");
  return (map ? 1 : 0) | (keep ? 2 : 0);
}

// Returns a SharedArrayBuffer over the memory, as a napi_value. V8 calls `deleter` once, on any thread, when no thread has a
// SharedArrayBuffer of this memory any more.
void* clearway_shared_map(void* data, std::size_t length, void (*deleter)(void*, std::size_t, void*), void* hint) {
  std::shared_ptr<v8::BackingStore> store = v8::SharedArrayBuffer::NewBackingStore(data, length, deleter, hint);
  return v8::SharedArrayBuffer::New(v8::Isolate::GetCurrent(), std::move(store)).slot;
}

// Keeps the memory of `buffer` alive, even if JavaScript transfers or detaches the buffer. `buffer` is the napi_value of an
// ArrayBuffer, or of a SharedArrayBuffer if `shared` is not 0. Release the result with `clearway_drop`.
// Returns null for an ArrayBuffer that JavaScript can resize: when it shrinks, V8 unmaps pages even if native code holds the
// backing store. A SharedArrayBuffer never shrinks, and grows without moving.
void* clearway_keep(void* buffer, int shared) {
  using Kept = std::shared_ptr<v8::BackingStore>;
  if (shared != 0) return new Kept(static_cast<v8::SharedArrayBuffer*>(buffer)->GetBackingStore());
  Kept store = static_cast<v8::ArrayBuffer*>(buffer)->GetBackingStore();
  if (store != nullptr && store->IsResizableByUserJavaScript()) return nullptr;
  return new Kept(std::move(store));
}

// Releases memory that `clearway_keep` keeps. May be called on any thread.
void clearway_drop(void* kept) { delete static_cast<std::shared_ptr<v8::BackingStore>*>(kept); }
}
