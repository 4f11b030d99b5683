// SPDX-License-Identifier: MIT OR Apache-2.0
// Does what Node-API cannot do without `node_api_create_external_sharedarraybuffer`: maps native memory as a SharedArrayBuffer,
// and keeps the memory of an ArrayBuffer alive while native code uses it. Uses V8's own functions, which Node exports. They are
// declared here instead of included from <v8.h>, because Node often comes without its headers. Each is weak, so that the addon
// also loads when V8 lacks one or has changed its parameters. `shared.rs` also limits them to the tested versions.
// spec/decisions/native-memory-is-mapped-as-shared-where-node-can.md
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

// A handle is the address of a slot, as a napi_value is.
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

// Bit 0: memory can be mapped as shared. Bit 1: an ArrayBuffer's memory can be kept. Looked up by name, because a compiler
// assumes that a member function always has an address.
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

// Returns a napi_value. `deleter` runs once, on any thread, when no thread has a SharedArrayBuffer of this memory any more.
void* clearway_shared_map(void* data, std::size_t length, void (*deleter)(void*, std::size_t, void*), void* hint) {
  std::shared_ptr<v8::BackingStore> store = v8::SharedArrayBuffer::NewBackingStore(data, length, deleter, hint);
  return v8::SharedArrayBuffer::New(v8::Isolate::GetCurrent(), std::move(store)).slot;
}

// Keeps the memory of `buffer` (a napi_value of an ArrayBuffer or of a SharedArrayBuffer), even when the buffer is transferred
// or detached. Returns null for a plain buffer that JavaScript can resize: V8 unmaps its pages when it shrinks, even if native
// code holds its store. A shared buffer only grows, in place.
void* clearway_keep(void* buffer, int shared) {
  using Kept = std::shared_ptr<v8::BackingStore>;
  if (shared != 0) return new Kept(static_cast<v8::SharedArrayBuffer*>(buffer)->GetBackingStore());
  Kept store = static_cast<v8::ArrayBuffer*>(buffer)->GetBackingStore();
  if (store != nullptr && store->IsResizableByUserJavaScript()) return nullptr;
  return new Kept(std::move(store));
}

// Releases kept memory, on any thread.
void clearway_drop(void* kept) { delete static_cast<std::shared_ptr<v8::BackingStore>*>(kept); }
}
