// SPDX-License-Identifier: MIT OR Apache-2.0
//! Image filters for an app. The pixels arrive in attached memory and leave in new memory. The filters are those of the crate `image`.

#![forbid(unsafe_code)]

use clearway::{Content, Error, Host, Request, Result};
use image::RgbaImage;
use image::imageops::{self, FilterType};
use serde::{Deserialize, Serialize};

struct Images {
    host: Host,
}

/// The size of the attached image, whose pixels are RGBA.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Size {
    width: u32,
    height: u32,
}

#[derive(Deserialize)]
struct Blur {
    image: Size,
    /// The strength of the blur, in pixels.
    sigma: f32,
}

#[derive(Deserialize)]
struct Resize {
    image: Size,
    to: Size,
}

/// The widest and highest image: 256 MB of pixels.
const SIDE_MAX: u32 = 8192;
/// The strongest blur. The time of a blur grows with its strength.
const SIGMA_MAX: f32 = 100.0;

#[clearway::plugin]
impl Images {
    fn open(host: Host) -> Result<Self> {
        Ok(Images { host })
    }

    /// Blurs the attached image. Runs on the plugin's pool, so several images are filtered at once.
    #[handler("image/blur")]
    fn blur(&self, request: Request<'_>) -> Result<Content> {
        let Blur { image, sigma } = request.decode()?;
        if !(sigma > 0.0 && sigma <= SIGMA_MAX) {
            return Err(Error::invalid_argument(format!(
                "sigma must be above 0, and at most {SIGMA_MAX}: sigma={sigma}"
            )));
        }
        self.answer(imageops::blur(&attached(request, image)?, sigma))
    }

    /// Makes an image of another size from the attached one.
    #[handler("image/resize")]
    fn resize(&self, request: Request<'_>) -> Result<Content> {
        let Resize { image, to } = request.decode()?;
        to.check("to")?;
        self.answer(imageops::resize(&attached(request, image)?, to.width, to.height, FilterType::Triangle))
    }
}

impl Images {
    /// Answers with the size of an image, and with its pixels in memory. The host does not copy them.
    fn answer(&self, image: RgbaImage) -> Result<Content> {
        let size = Size { width: image.width(), height: image.height() };
        Ok(Content::encode(&size)?.attach(self.host.adopt(image.into_raw())?))
    }
}

impl Size {
    /// Returns the number of bytes. Refuses a size that is 0 or too large. `name` is for the error's text.
    fn check(self, name: &str) -> Result<usize> {
        let Size { width, height } = self;
        if width == 0 || height == 0 || width > SIDE_MAX || height > SIDE_MAX {
            return Err(Error::invalid_argument(format!(
                "each side of {name} must be 1 to {SIDE_MAX}: width={width} height={height}"
            )));
        }
        Ok(width as usize * height as usize * 4)
    }
}

/// Copies the attached pixels, because the app may write to its memory meanwhile.
fn attached(request: Request<'_>, size: Size) -> Result<RgbaImage> {
    let bytes = size.check("image")?;
    let memory = request.attachments()?.pop().ok_or_else(|| Error::invalid_argument("attach the pixels"))?;
    if memory.size() != bytes {
        let Size { width, height } = size;
        return Err(Error::invalid_argument(format!(
            "{width} x {height} RGBA pixels are {bytes} bytes: attached={}",
            memory.size()
        )));
    }
    RgbaImage::from_raw(size.width, size.height, memory.to_vec())
        .ok_or_else(|| Error::failed("the image has no pixels"))
}
