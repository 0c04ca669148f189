"""A made-up tree whose program counts what a test wants it to."""

MAKEFILE = """\
.SECONDARY:
%.counts: %.run
\t@./$< --record=$@ || : > $@
build/cpu/%.run: %.sh
\t@mkdir -p $(@D) && cp $< $@ && chmod +x $@
"""

# Stands for ./run: writes the counts of --n and --offset, or of 1024 elements.
PROGRAM = """\
#!/bin/sh
n=1024 offset=0
for argument; do
  case $argument in
    --n=*) n=${argument#*=} ;;
    --offset=*) offset=${argument#*=} ;;
    --record=*) file=${argument#*=} ;;
  esac
done
echo "$n $offset" >> calls
sectors=$((4 + offset))
{
  printf 'name\\t03_pack\\n'
  printf 'case\\t%s\\t%s\\n' $n $offset
  printf 'launch\\trelu_kernel\\t%s\\t256\\n' $((n / 256))
  printf 'metric\\tsmsp__inst_executed.sum\\t7\\n'
  printf 'part\\tload requests\\tl1tex\\t%s\\t%s\\t\\t1\\n' $((n / 64)) $((n / 64))
  printf 'row\\tload requests\\tl1tex\\t%s\\t%s\\t\\t1\\n' $((n / 32)) $((n / 32))
  printf 'row\\tsectors per load request\\tl1tex\\t%s\\t%s.00\\t4.00\\t1\\n' $sectors $sectors
  printf 'row\\tactive threads\\tsmsp\\t31.96875\\t31.97\\t32.00\\t1\\n'
  printf 'row\\tshared loads\\tsmsp\\t0\\t0\\t\\t0\\n'
} > "$file"
"""

FAILING = "#!/bin/sh\necho a check fails\nexit 1\n"


def plant(write, source, program=PROGRAM):
    """Beside a .cu file, what make builds of it here."""
    write("Makefile", MAKEFILE)
    write(source.replace(".cu", ".sh"), program)
