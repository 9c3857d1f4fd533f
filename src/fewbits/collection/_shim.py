import numpy as np

from fewbits import inputs
from fewbits.codes import as_codes
from fewbits.inputs import Input


def read(
    data,
    *,
    column=None,
    images=None,
    codes=None,
    id=None,
    label=None,
    columns=None,
    names=(),
    skip_blank=False,
    as_text=(),
    kind=None,
):
    if codes is True:
        return Input("codes", as_codes(np.asarray(data)), None, "the codes")
    keep = True if columns is None else list(columns)
    from pathlib import Path

    from fewbits._arrow import as_frame, is_frame

    if not (isinstance(data, (str, Path)) or is_frame(as_frame(data))):
        keep = False
    return inputs.read(
        data,
        column=column,
        label_column=label,
        id_column=id,
        keep=keep,
        names=names,
        skip_blank=skip_blank,
        as_text=as_text,
        kind=kind,
    )


def learn(
    source,
    *,
    learner=None,
    n_bits=None,
    backbone=None,
    random_state=0,
    progress=None,
    **options,
):
    from fewbits.training import fit_bundle

    if learner is None or isinstance(learner, str):
        b = fit_bundle(
            source,
            method=learner or "itq",
            n_bits=n_bits,
            backbone=backbone,
            random_state=random_state,
            progress=progress,
            **options,
        )
    else:
        from fewbits.training._assemble import assembled
        from fewbits.training._fit import _extracted, backbone_of

        ex = backbone_of(source, backbone, progress)
        X = _extracted(source, ex, progress)
        learner.fit(X, source.labels)
        b = assembled(learner, X, source.labels, ex, {})

    class L:
        pass

    l = L()
    l.encoder = b.encoder
    l.backbone = b.backbone
    l.backbone_fingerprint = b.backbone_fingerprint
    l.facts = {k: v for k, v in b.metadata.to_dict().items()}
    l.codebook = b.codebook
    l.calibration = b.calibration
    l.rejection = b.rejection
    return l
