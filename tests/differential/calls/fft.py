"""Calls of Fourier and cosine transforms, spectra over time, and complex numbers from their parts."""

from differential.calllib import at, call, f16, f32, f64, i32, made, of

Z = of(
    [[1 + 2j, -0.5, 0.25j, 2 - 1j], [0.5 + 1j, 3, -1 - 1j, 1j], [2, 1 - 1j, 0.5, -2j]], "complex64"
)
W = of([[1 + 2j, -0.5, 0.25j], [0.5 + 1j, 3, -1 - 1j]], "complex128")
REAL, HALF = ("rfft", "ihfft"), ("irfft", "hfft")

for kind in ("fft", "ifft", *REAL, *HALF):
    x = f32(3, 4) if kind in REAL else Z
    name = f"ops.{kind}"
    call(name, x)
    call(name, x, n=6)
    call(name, x, 3, 0, "ortho")
    call(name, x, norm="forward")
    call(name, x, grad=True)
    call(name, f64(5) if kind in REAL else W)
    call(name, f16(2, 5))
    call(name, i32(2, 3))
    call(name, x, n=0)
    call(name, x, dim=2)
    call(name, x, norm="bad")
    call(name, f32())
    call(name, f32(0, 4))
    for end in ("2", "n"):
        name = f"ops.{kind}{end}"
        call(name, x)
        call(name, x, s=(4, 6))
        call(name, x, (2, 3), (1, 0), "ortho")
        call(name, x, dim=(0,))
        call(name, x, grad=True)
        call(name, f32(2, 3, 4))
        call(name, x, s=(2, 2, 2), dim=(0, 1))
        call(name, x, dim=(0, 0))
for name in ("ops.fftfreq", "ops.rfftfreq"):
    call(name, 4)
    call(name, 5, 0.5)
    call(name, 6, 2.0, at("float64"))
    call(name, 0)
for name in ("ops.fftshift", "ops.ifftshift"):
    call(name, f32(3, 5))
    call(name, i32(3, 5), 1)
    call(name, f32(3, 5), dim=(0, 1))
    call(name, f32(3, 5), grad=True)
    call(name, f32(3, 5), dim=2)

# ---- spectra over time ------------------------------------------------------------------------------
WINDOW = of([0.1, 0.5, 0.9, 1.0, 1.0, 0.8, 0.4, 0.2])
call("ops.stft", f32(2, 16), 8)
call("ops.stft", f32(16), 8, hop_length=3, window=WINDOW)
call("ops.stft", f32(2, 16), 8, win_length=6, normalized=True)
call("ops.stft", f32(2, 16), 8, center=False, onesided=False, return_complex=True)
call("ops.stft", f32(16), 8, window=WINDOW, grad=True)
call("ops.stft", f32(2, 2, 16), 8)
made("ops.STFT", 8, 2, 8, False, True, True)(f32(2, 16), WINDOW)
made("ops.STFT", 8, 3, 8, True, False, False)(f32(16), WINDOW)
for size in (1, 2):
    made("ops.FFTWithSize", size, False, False)(Z)
    made("ops.FFTWithSize", size, True, False, "ortho")(Z)
    made("ops.FFTWithSize", size, False, True)(f32(3, 4))
    made("ops.FFTWithSize", size, False, True, "forward", False)(f32(3, 4))
    made("ops.FFTWithSize", size, True, True)(Z)
made("ops.FFTWithSize", 1, True, True, "backward", True, (7,))(Z)
made("ops.FFTWithSize", 1, True, True, "backward", True, (5,))(Z)
made("ops.FFTWithSize", 3, False, False)(Z)
made("ops.FFTWithSize", 1, False, False)(f32(3, 4))

# ---- complex numbers --------------------------------------------------------------------------------
made("ops.Complex")(f32(2, 3), f32(2, 3, seed=1))
made("ops.Complex")(f64(3), f64(3, seed=1))
made("ops.Complex")(i32(3), i32(3))
made("ops.ComplexAbs")(Z)
made("ops.ComplexAbs")(f32(3))
made("ops.Angle")(Z)
made("ops.Angle")(f32(3))
made("ops.ConjugateTranspose")(Z, (1, 0))
made("ops.ConjugateTranspose")(f32(2, 3), (1, 0))
made("ops.ConjugateTranspose")(Z, (1, 1))
made("ops.Polar")(f32(3), f32(3, seed=1))
for name in ("ops.polar", "mint.polar"):
    call(name, f32(2, 3), f32(2, 3, seed=1))
    call(name, f64(3), f64(3, seed=1))
    call(name, f32(3), f64(3))
    call(name, i32(3), i32(3))
call("ops.polar", f32(3), f32(3, seed=1), grad=True)
call("ops.view_as_real", Z)
call("ops.view_as_real", f32(3))
made("ops.LogSpace", 5)(of(1.0), of(3.0))
made("ops.LogSpace", 4, 2)(of(0.0), of(3.0))
made("ops.LogSpace", -1)(of(0.0), of(3.0))

# ---- cosine transforms ------------------------------------------------------------------------------
for name in ("scipy.fft.dct", "scipy.fft.idct"):
    call(name, f32(3, 4))
    call(name, f32(3, 5), n=6)
    call(name, f64(3, 5), axis=0)
    call(name, i32(4), 2, 3)
    call(name, Z)
    call(name, f32(2, 4), grad=True)
    call(name, f32(3, 4), type=3)
    call(name, f32(3, 4), axis=2)
for name in ("scipy.fft.dctn", "scipy.fft.idctn"):
    call(name, f32(3, 4))
    call(name, f32(3, 4), s=(3, 3))
    call(name, f32(3, 4), s=(6,), axes=(1,))
    call(name, f32(3, 4), axes=(0, 0))
