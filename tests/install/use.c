/* What tests/scenario/install.test compiles against the installed header and library. */
#include <forebay/forebay.h>
#include <stdio.h>
#include <string.h>

static int failed(const char* step, int32_t status) {
  fprintf(stderr, "%s: %s\n", step, forebay_status_text(status));
  return 1;
}

int main(int argc, char** argv) {
  static unsigned char data[4096], back[4096];
  forebay_store_options options;
  forebay_store* store = NULL;
  forebay_block block;
  int32_t status;
  if (argc != 2) return 2;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.flash = argv[1];
  options.flash_bytes = 64 << 20;
  options.tenant = "default";
  options.layout = "raw";
  status = forebay_store_open(&options, &store);
  if (status != FOREBAY_OK) return failed("open", status);
  for (size_t i = 0; i < sizeof data; ++i) data[i] = (unsigned char)(i * 7);
  memset(&block, 0, sizeof block);
  block.key = "c";
  block.key_bytes = 1;
  block.data = data;
  block.data_bytes = sizeof data;
  block.token_count = 16;
  status = forebay_block_id_of(store, block.key, block.key_bytes, &block.id);
  if (status != FOREBAY_OK) return failed("id", status);
  status = forebay_store_put(store, &block, 1, 5000000000u);
  if (status != FOREBAY_OK) return failed("put", status);
  status = forebay_store_flush(store, 5000000000u);
  if (status != FOREBAY_OK) return failed("flush", status);
  block.data = back;
  status = forebay_store_get(store, &block, 1, 5000000000u);
  if (status != FOREBAY_OK) return failed("get", status);
  if (memcmp(data, back, sizeof data) != 0) return failed("compare", FOREBAY_CORRUPT);
  status = forebay_store_close(store);
  if (status != FOREBAY_OK) return failed("close", status);
  puts("put, got and checked 4096 bytes");
  return 0;
}
