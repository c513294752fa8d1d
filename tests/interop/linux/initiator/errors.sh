# What Linux's target refuses is told by name.
if forebay store stat "$url-other" 2> told; then exit 1; fi
grep -q "no such subsystem" told
if forebay store stat "$url?nsid=7" 2> told; then exit 1; fi
grep -q "no active namespace of that number" told
cat told
