// SPDX-License-Identifier: MIT OR Apache-2.0
// What people write by hand to reach C from Java: JNI, in each of its ways to see bytes. One function is one way and does
// nothing else. The C that is reached is the lab's own, ts/clearway-lab/native/plain.c, which is compiled in.
#include <jni.h>
#include <stdint.h>
#include <string.h>

// plain.c
void lab_fill(uint8_t *data, size_t size, int value);
void lab_echo(const uint8_t *in, uint8_t *out, size_t size);
int lab_reference(size_t size, int fresh, size_t batch, double *ns, size_t times);

#define PEER(result, name) JNIEXPORT result JNICALL Java_clearway_lab_jni_Peers_##name

// All of it in C, its clock included; `ns` is filled.
PEER(jboolean, reference)(JNIEnv *env, jclass type, jlong size, jboolean fresh, jlong batch, jdoubleArray ns) {
  (void)type;
  jdouble *times = (*env)->GetDoubleArrayElements(env, ns, NULL);
  if (times == NULL) return JNI_FALSE;
  const jsize count = (*env)->GetArrayLength(env, ns);
  const int good = lab_reference((size_t)size, fresh, (size_t)batch, times, (size_t)count);
  (*env)->ReleaseDoubleArrayElements(env, ns, times, 0);
  return (jboolean)good;
}

// A direct buffer: C is told where it stands.
PEER(void, fillDirect)(JNIEnv *env, jclass type, jobject buffer, jlong size, jint value) {
  (void)type;
  lab_fill((*env)->GetDirectBufferAddress(env, buffer), (size_t)size, value);
}

// An array's elements: HotSpot copies them out, and back.
PEER(void, fillElements)(JNIEnv *env, jclass type, jbyteArray array, jint value) {
  (void)type;
  jbyte *bytes = (*env)->GetByteArrayElements(env, array, NULL);
  if (bytes == NULL) return; // OutOfMemoryError is thrown on return.
  lab_fill((uint8_t *)bytes, (size_t)(*env)->GetArrayLength(env, array), value);
  (*env)->ReleaseByteArrayElements(env, array, bytes, 0);
}

// The array where it stands: nothing is copied, and no collection happens meanwhile, or none that moves it.
PEER(void, fillCritical)(JNIEnv *env, jclass type, jbyteArray array, jint value) {
  (void)type;
  const size_t size = (size_t)(*env)->GetArrayLength(env, array);
  void *bytes = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (bytes == NULL) return;
  lab_fill(bytes, size, value);
  (*env)->ReleasePrimitiveArrayCritical(env, array, bytes, 0);
}

// An array to C and another one back, which is a copy of it: each is copied once on its way.
PEER(jbyteArray, echoArray)(JNIEnv *env, jclass type, jbyteArray message) {
  (void)type;
  const jsize size = (*env)->GetArrayLength(env, message);
  jbyte *bytes = (*env)->GetByteArrayElements(env, message, NULL);
  if (bytes == NULL) return NULL; // OutOfMemoryError is thrown on return.
  jbyteArray answer = (*env)->NewByteArray(env, size);
  if (answer != NULL) (*env)->SetByteArrayRegion(env, answer, 0, size, bytes);
  (*env)->ReleaseByteArrayElements(env, message, bytes, JNI_ABORT);
  return answer;
}

// From one direct buffer into another.
PEER(void, echoDirect)(JNIEnv *env, jclass type, jobject from, jobject to, jlong size) {
  (void)type;
  lab_echo((*env)->GetDirectBufferAddress(env, from), (*env)->GetDirectBufferAddress(env, to), (size_t)size);
}
