# Linux's target has us prove ourselves, and proves itself: right keys, wrong ones, none.
umask 077
echo DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR: > host.key
echo DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==: > target.key
me="$url?host_nqn=nqn.2026-12.org.forebay:auth"
head -c 65536 /dev/urandom > block
forebay store put "$me&dhchap_key_file=host.key&dhchap_ctrl_key_file=target.key&queues=2&reauth_s=1" key block --size 192M
forebay store get "$me&dhchap_key_file=host.key" key > back
cmp block back
if forebay store stat "$me" 2> told; then exit 1; fi
grep -q "wants authentication, and a key" told
if forebay store stat "$me&dhchap_key_file=target.key" 2> told; then exit 1; fi
grep -q "does not take this host's key" told
if forebay store stat "$me&dhchap_key_file=host.key&dhchap_ctrl_key_file=host.key" 2> told; then exit 1; fi
grep -q "did not prove itself" told
cat told
