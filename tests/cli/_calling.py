"""Commands as a shell calls them, in this process."""

from typer.testing import CliRunner

from fewbits.cli import app


def invoke(*words, **options):
    return CliRunner().invoke(app, [str(word) for word in words], **options)


def run(*words, **options):
    """Return what a command prints that ends well and says nothing else."""
    result = invoke(*words, **options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def fail(*words, **options):
    """Return the one line of a command that refuses."""
    result = invoke(*words, **options)
    assert result.exit_code == 2, (words, result.output)
    assert result.stdout == "", words
    assert result.stderr.startswith("fewbits: error: "), words
    assert result.stderr.count("\n") == 1, (words, result.stderr)
    return result.stderr
