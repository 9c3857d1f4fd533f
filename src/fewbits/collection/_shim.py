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
