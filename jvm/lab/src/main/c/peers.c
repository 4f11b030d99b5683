// SPDX-License-Identifier: MIT OR Apache-2.0
// Hand-written JNI functions: one for each way in which C accesses Java's bytes. Each function uses one way and does
// nothing else. The C functions that do the work are in ts/clearway-lab/native/plain.c, which is compiled in.
#include <jni.h>
#include <stdint.h>
#include <string.h>

// plain.c
void lab_fill(uint8_t *data, size_t size, int value);
void lab_echo(const uint8_t *in, uint8_t *out, size_t size);
int lab_reference(size_t size, int fresh, size_t batch, double *ns, size_t times);

#define PEER(result, name) JNIEXPORT result JNICALL Java_clearway_lab_jni_Peers_##name

// Runs the whole measurement in C, with its clock. Fills `ns` with the times.
PEER(jboolean, reference)(JNIEnv *env, jclass type, jlong size, jboolean fresh, jlong batch, jdoubleArray ns) {
  (void)type;
  jdouble *times = (*env)->GetDoubleArrayElements(env, ns, NULL);
  if (times == NULL) return JNI_FALSE;
  const jsize count = (*env)->GetArrayLength(env, ns);
  const int good = lab_reference((size_t)size, fresh, (size_t)batch, times, (size_t)count);
  (*env)->ReleaseDoubleArrayElements(env, ns, times, 0);
  return (jboolean)good;
}

// Fills a direct buffer through its address.
PEER(void, fillDirect)(JNIEnv *env, jclass type, jobject buffer, jlong size, jint value) {
  (void)type;
  lab_fill((*env)->GetDirectBufferAddress(env, buffer), (size_t)size, value);
}

// Fills an array through a copy of its elements. HotSpot copies them out and back.
PEER(void, fillElements)(JNIEnv *env, jclass type, jbyteArray array, jint value) {
  (void)type;
  jbyte *bytes = (*env)->GetByteArrayElements(env, array, NULL);
  if (bytes == NULL) return; // The JVM throws OutOfMemoryError on return.
  lab_fill((uint8_t *)bytes, (size_t)(*env)->GetArrayLength(env, array), value);
  (*env)->ReleaseByteArrayElements(env, array, bytes, 0);
}

// Fills an array in place, without a copy. Meanwhile, no garbage collection that moves the array can run.
PEER(void, fillCritical)(JNIEnv *env, jclass type, jbyteArray array, jint value) {
  (void)type;
  const size_t size = (size_t)(*env)->GetArrayLength(env, array);
  void *bytes = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (bytes == NULL) return;
  lab_fill(bytes, size, value);
  (*env)->ReleasePrimitiveArrayCritical(env, array, bytes, 0);
}

// Copies an array to C and from there into a new array: one copy each way. Returns NULL if the JVM throws
// OutOfMemoryError when the native method returns.
static jbyteArray there_and_back(JNIEnv *env, jbyteArray message) {
  const jsize size = (*env)->GetArrayLength(env, message);
  jbyte *bytes = (*env)->GetByteArrayElements(env, message, NULL);
  if (bytes == NULL) return NULL;
  jbyteArray back = (*env)->NewByteArray(env, size);
  if (back != NULL) (*env)->SetByteArrayRegion(env, back, 0, size, bytes);
  (*env)->ReleaseByteArrayElements(env, message, bytes, JNI_ABORT);
  return back;
}

PEER(jbyteArray, echoArray)(JNIEnv *env, jclass type, jbyteArray message) {
  (void)type;
  return there_and_back(env, message);
}

// Copies from one direct buffer into another.
PEER(void, echoDirect)(JNIEnv *env, jclass type, jobject from, jobject to, jlong size) {
  (void)type;
  lab_echo((*env)->GetDirectBufferAddress(env, from), (*env)->GetDirectBufferAddress(env, to), (size_t)size);
}

// Method ids that are looked up once, as JNI's documentation advises. They stay NULL if java.lang.foreign loads this
// library.
static jmethodID apply, apply_as_long;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  (void)reserved;
  JNIEnv *env;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  const jclass function = (*env)->FindClass(env, "java/util/function/Function");
  const jclass operator = (*env)->FindClass(env, "java/util/function/LongUnaryOperator");
  if (function == NULL || operator == NULL) return JNI_ERR;
  apply = (*env)->GetMethodID(env, function, "apply", "(Ljava/lang/Object;)Ljava/lang/Object;");
  apply_as_long = (*env)->GetMethodID(env, operator, "applyAsLong", "(J)J");
  return apply == NULL || apply_as_long == NULL ? JNI_ERR : JNI_VERSION_10;
}

// Makes C call Java. C creates an array for the message, and reads the elements of the answer.
PEER(jbyteArray, askArray)(JNIEnv *env, jclass type, jbyteArray message, jobject answer) {
  (void)type;
  jbyteArray asked = there_and_back(env, message);
  if (asked == NULL) return NULL;
  jbyteArray answered = (*env)->CallObjectMethod(env, answer, apply, asked);
  if ((*env)->ExceptionCheck(env) || answered == NULL) return NULL; // The JVM throws on return.
  jbyte *seen = (*env)->GetByteArrayElements(env, answered, NULL);
  if (seen == NULL) return NULL;
  (*env)->ReleaseByteArrayElements(env, answered, seen, JNI_ABORT);
  return answered;
}

// Makes C call Java for a message in buffers that both sides know. The call passes only the sizes.
PEER(jlong, askDirect)(JNIEnv *env, jclass type, jlong size, jobject answer) {
  (void)type;
  return (*env)->CallLongMethod(env, answer, apply_as_long, size);
}
