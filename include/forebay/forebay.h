/* Forebay's C interface: a tiered KV-cache store in this process.
 *
 * Units: bytes and nanoseconds. Threads: a store belongs to the thread that opened it; every call
 * on it comes from there. Blocking: lookup never does; the others return when done or at
 * `timeout_ns`. Ownership: memory passed in stays the caller's; after FOREBAY_TIMED_OUT from
 * forebay_store_get the call has waited for the device to let go of the buffers, so they are free
 * to use. Errors: negative values of forebay_status; a miss is an outcome of its block, not an
 * error. Stability: symbols carry the version node FOREBAY_0; fields are only ever added at the end
 * of the option structs, whose first member is their size.
 */
#ifndef FOREBAY_FOREBAY_H_
#define FOREBAY_FOREBAY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_ABI_VERSION 0

typedef enum forebay_status {
  FOREBAY_OK = 0,
  FOREBAY_INVALID = -1,
  FOREBAY_NOT_FOUND = -2,
  FOREBAY_EXISTS = -3,
  FOREBAY_BUSY = -4,
  FOREBAY_TIMED_OUT = -5,
  FOREBAY_CANCELLED = -6,
  FOREBAY_CORRUPT = -7,
  FOREBAY_IO = -8,
  FOREBAY_NO_SPACE = -9,
  FOREBAY_READ_ONLY = -10,
  FOREBAY_GONE = -11,
  FOREBAY_UNSUPPORTED = -12,
  FOREBAY_DENIED = -13,
  FOREBAY_VERSION_MISMATCH = -14
} forebay_status;

typedef struct forebay_store forebay_store; /* opaque */

typedef struct forebay_store_options {
  size_t struct_bytes;  /* sizeof(forebay_store_options) */
  const char* flash;    /* path or device URL; NULL: no flash tier */
  uint64_t flash_bytes; /* makes the store at this size when there is none; 0: must exist */
  uint64_t dram_bytes;  /* 0: no DRAM tier */
  const char* tenant;   /* at most 64 bytes */
  const char* layout;   /* layout fingerprint, at most 256 bytes */
  double prefill_tokens_per_second; /* of the engine; 0: not known */
} forebay_store_options;

typedef struct forebay_block_id {
  uint8_t digest[32];
} forebay_block_id;

typedef struct forebay_block {
  forebay_block_id id;
  forebay_block_id parent; /* put: the block before it; all zero for a chain's first */
  const void* key;         /* put: the engine's key, kept on media; may be NULL */
  size_t key_bytes;        /* at most 256 */
  void* data;              /* get: filled; put: read */
  size_t data_bytes;       /* get: exactly the block's size */
  uint32_t token_count;    /* put */
  uint32_t chain_depth;    /* put: blocks before it */
  int32_t status;          /* out: FOREBAY_OK, or why not */
} forebay_block;

/* "0.1.0" */
const char* forebay_version(void);
/* "not_found"; never NULL. */
const char* forebay_status_text(int32_t status);

/* On failure *store is NULL and the reason was logged. */
int32_t forebay_store_open(const forebay_store_options* options, forebay_store** store);
/* Drains and closes; the handle is gone afterwards whatever is returned. NULL is allowed. */
int32_t forebay_store_close(forebay_store* store);

/* Identity of a block of this store's tenant and layout. */
int32_t forebay_block_id_of(const forebay_store* store, const void* key, size_t key_bytes,
                            forebay_block_id* id);
/* The leading run that is present, and how much of it is worth loading; from memory. */
int32_t forebay_store_lookup(forebay_store* store, const forebay_block_id* chain, size_t count,
                             size_t* present_count, size_t* worth_count);
/* One chain in order. Returns FOREBAY_OK when every block arrived, else the first block's reason.
 */
int32_t forebay_store_get(forebay_store* store, forebay_block* blocks, size_t count,
                          uint64_t timeout_ns);
/* Data is copied before it returns. */
int32_t forebay_store_put(forebay_store* store, forebay_block* blocks, size_t count,
                          uint64_t timeout_ns);
/* Gone now and after a restart. */
int32_t forebay_store_remove(forebay_store* store, const forebay_block_id* ids, size_t count,
                             uint64_t timeout_ns);
/* Everything accepted so far is durable (or was refused by admission) afterwards. */
int32_t forebay_store_flush(forebay_store* store, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_FOREBAY_H_ */
