//! An SCTP echo server over UDP: `echo_server [ADDRESS:UDP-PORT]`.

use headway_net::sctp::{ENCAPSULATION_PORT, Endpoint, EndpointConfig};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = match std::env::args().nth(1) {
        Some(local) => local.parse()?,
        None => ([0, 0, 0, 0], ENCAPSULATION_PORT).into(),
    };
    // SCTP port 7 is that of the echo service.
    let endpoint = Endpoint::bind(EndpointConfig::udp(local).listen(7))?;
    println!("listening on {}", endpoint.local_addrs()[0]);
    loop {
        let association = endpoint.accept().await?;
        tokio::spawn(async move {
            // Back it goes on its stream, with its PPID, ordered or not as it came.
            while let Ok(Some(message)) = association.recv().await {
                if association.send(message.into()).await.is_err() {
                    break;
                }
            }
        });
    }
}
