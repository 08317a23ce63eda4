"""What one process may ask of its group, settings with an effect of their own, and files of rows: what must come is known."""

from differential.calllib import case


def _known(name, gives, program):
    program.__doc__ = "What must come is known."
    case(name, ref=lambda: gives)(program)


_known("ops.get_rank", 0, lambda ms: ms.ops.get_rank())
_known("ops.get_world_size", 1, lambda ms: ms.ops.get_world_size())
_known("ops.get_process_group_ranks", [0], lambda ms: ms.ops.get_process_group_ranks())
_known("ops.get_group_rank", 0, lambda ms: ms.ops.get_group_rank("hccl_world_group", 0))
_known("ops.get_global_rank", 0, lambda ms: ms.ops.get_global_rank("hccl_world_group", 0))


def _with_group(use):
    def program(ms):
        group = ms.ops.new_group([0], "of_one")
        try:
            return use(ms, group)
        finally:
            ms.ops.destroy_process_group(group)

    return program


_known("ops.new_group", [0], _with_group(lambda ms, g: ms.ops.get_process_group_ranks(g)))


def _gone(ms):
    group = ms.ops.new_group([0], "of_one")
    ms.ops.destroy_process_group(group)
    try:
        return ms.ops.get_world_size(group)
    except ValueError:
        return "gone"


_known("ops.destroy_process_group", "gone", _gone)


def _deepest(ms):
    before = ms.get_context("max_call_depth")
    ms.set_recursion_limit(77)
    try:
        return ms.get_context("max_call_depth")
    finally:
        ms.set_recursion_limit(before)


_known("set_recursion_limit", 77, _deepest)


def _rows(ms):
    import mindspore.mindrecord as mindrecord

    writer = mindrecord.FileWriter("rows.mindrecord", 1)
    writer.add_schema({"number": {"type": "int32"}}, "of numbers")
    writer.write_raw_data([{"number": i} for i in (3, 1, 2)])
    writer.commit()
    reader = mindrecord.FileReader("rows.mindrecord")
    return sorted(int(row["number"]) for row in reader.get_next())


_known("mindrecord.FileWriter", [1, 2, 3], _rows)
_known("mindrecord.FileReader", [1, 2, 3], _rows)


def _vocabulary(ms):
    import mindspore.dataset.text as text

    return text.Vocab.from_list(["a", "b"]).tokens_to_ids(["b", "a"])


_known("dataset.text.Vocab", [1, 0], _vocabulary)


def _refused(check, *wrong):
    def program(ms):
        said = []
        for arguments in wrong:
            try:
                said.append(check(ms)(*arguments))
            except (TypeError, ValueError) as error:
                said.append(type(error).__name__)
        return said

    return program


_known(
    "nn.layer.conv._check_input_3d",
    [None, "ValueError"],
    _refused(lambda ms: ms.nn.layer.conv._check_input_3d, ((1, 2, 3), "Net"), ((1, 2), "Net")),
)
